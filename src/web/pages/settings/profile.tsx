import { useMutation, useQuery } from '@tanstack/react-query';
import { MAX_NAME_LENGTH } from '../../../shared/rules/accounts.ts';
import { REGION_NAMES } from '../../../shared/rules/regions.ts';
import { editAccount } from '../../data/access-mutations.ts';
import { type Account, accountQuery } from '../../data/queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Drafted, useDraft } from '../../ui/draft.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmailTopicsCard } from './email-topics.tsx';
import { EmailCard } from './email.tsx';
import { SettingsFrame } from './frame.tsx';

const NameForm = ({ account }: { account: Account }) => {
  const edit = useMutation({ ...editAccount, onSuccess: () => showToast('Name saved') });
  return (
    <Form
      write={edit}
      draft={useDraft()}
      onSend={({ name = '' }) => edit.mutate({ name: name.trim() === '' ? null : name })}
      className="max-w-md px-5 pb-5"
    >
      <TextField
        label="Name"
        name="name"
        autoComplete="organization"
        maxLength={MAX_NAME_LENGTH}
        defaultValue={account.name ?? ''}
        hint="Your name or your company’s."
      />
      <div>
        <Button type="submit" isBusy={edit.isPending}>
          Save name
        </Button>
      </div>
    </Form>
  );
};

const RegionCard = ({ account }: { account: Account }) => (
  <Card>
    <CardHeader
      title="Home region"
      hint={
        account.home_region === null
          ? 'Verify calls are answered in the region where the account was created.'
          : `Verify calls are answered in ${REGION_NAMES[account.home_region]}.`
      }
      actions={
        <ButtonLink to="/settings/regions" size="sm">
          View regions
        </ButtonLink>
      }
    />
  </Card>
);

const Cards = ({ account }: { account: Account }) => (
  <>
    <Drafted name="profile">
      <Card>
        <CardHeader title="Profile" />
        <NameForm account={account} />
      </Card>
    </Drafted>
    <EmailCard account={account} />
    <EmailTopicsCard account={account} />
    <RegionCard account={account} />
  </>
);

const Loading = () => (
  <>
    <Skeleton className="h-48 rounded-xl" />
    <Skeleton className="h-28 rounded-xl" />
  </>
);

export const ProfileSettings = () => {
  const { data: account, error, refetch } = useQuery(accountQuery);
  return (
    <SettingsFrame section="Profile">
      {account ? (
        <Cards account={account} />
      ) : error ? (
        <Card>
          <LoadError error={error} onRetry={() => void refetch()} />
        </Card>
      ) : (
        <Loading />
      )}
    </SettingsFrame>
  );
};
