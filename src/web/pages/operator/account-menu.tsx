import { useMutation } from '@tanstack/react-query';
import { Ban, CircleCheck, Database, Ellipsis, Gift, Mail, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { OWN_PLAN } from '../../../shared/rules/plans.ts';
import type { OperatorAccount, OperatorActions } from '../../data/operator.ts';
import { formatExact } from '../../lib/format.ts';
import { IconButton } from '../../ui/button.tsx';
import { Confirm, Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { showToast } from '../../ui/toast.tsx';

interface Props {
  account: OperatorAccount;
  actions: OperatorActions;
}

type Plan = 'free' | 'pro' | 'scale';

const GrantForm = ({ account, actions, onClose }: Props & { onClose: () => void }) => {
  const grant = useMutation({ ...actions.grant(account.id), onSuccess: () => showToast('Plan granted') });
  const end = account.granted_until;
  const lastDay = end?.slice(0, 10) ?? '';
  const send = ({ plan = 'free', until = '' }: Record<string, string>) => {
    // A day that stays keeps its time.
    const newEnd = end !== null && until === lastDay ? end : `${until}T23:59:59.999Z`;
    grant.mutate(
      { plan: plan as Plan, ...(until && plan !== 'free' && { until: newEnd }) },
      { onSuccess: onClose },
    );
  };
  return (
    <Form write={grant} onSend={send}>
      <SelectField label="Plan" name="plan" defaultValue={account.granted_plan ?? 'pro'}>
        <option value="pro">Pro</option>
        <option value="scale">Scale</option>
        <option value="free">No grant</option>
      </SelectField>
      <TextField
        label="Last day"
        name="until"
        type="date"
        defaultValue={lastDay}
        hint="Leave it empty for a grant without an end."
      />
      <FormActions onCancel={onClose} isBusy={grant.isPending}>
        Save
      </FormActions>
    </Form>
  );
};

const EmailForm = ({ account, actions, onClose }: Props & { onClose: () => void }) => {
  const change = useMutation({
    ...actions.changeEmail(account.id),
    onSuccess: ({ email_changes_at }) => showToast(`The address changes at ${formatExact(email_changes_at)}`),
  });
  return (
    <Form write={change} onSend={({ email = '' }) => change.mutate(email.trim(), { onSuccess: onClose })}>
      <TextField label="New email address" name="email" type="email" autoComplete="off" required />
      <FormActions onCancel={onClose} isBusy={change.isPending}>
        Change in 48 hours
      </FormActions>
    </Form>
  );
};

const DatabaseForm = ({ account, actions, onClose }: Props & { onClose: () => void }) => {
  const move = useMutation({
    ...actions.moveDatabase(account.id),
    onSuccess: ({ move: begun }) =>
      showToast(begun ? `The account moves to ${begun.to}` : 'The account is there already'),
  });
  return (
    <Form write={move} onSend={({ database = '' }) => move.mutate(database.trim(), { onSuccess: onClose })}>
      <TextField
        label="Database"
        name="database"
        hint={`A name in DATABASES. The account is in ${account.database}.`}
        autoComplete="off"
        required
      />
      <FormActions onCancel={onClose} isBusy={move.isPending}>
        Move account
      </FormActions>
    </Form>
  );
};

type Open = 'suspend' | 'reinstate' | 'grant' | 'email' | 'two-factor' | 'database';

/** What the operator can do with an account. */
export const AccountMenu = ({ account, actions }: Props) => {
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const isSuspended = account.suspended_at !== null;
  const name = account.name ?? account.email;
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions of ${account.email}`}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        {account.plan !== OWN_PLAN && (
          <MenuItem icon={<Gift aria-hidden />} onSelect={() => setOpen('grant')}>
            Grant a plan…
          </MenuItem>
        )}
        <MenuItem icon={<Mail aria-hidden />} onSelect={() => setOpen('email')}>
          Change email address…
        </MenuItem>
        <MenuItem icon={<ShieldOff aria-hidden />} onSelect={() => setOpen('two-factor')}>
          Reset two-factor…
        </MenuItem>
        <MenuItem icon={<Database aria-hidden />} onSelect={() => setOpen('database')}>
          Move to another database…
        </MenuItem>
        <MenuSeparator />
        {isSuspended ? (
          <MenuItem icon={<CircleCheck aria-hidden />} onSelect={() => setOpen('reinstate')}>
            Reinstate…
          </MenuItem>
        ) : (
          <MenuItem icon={<Ban aria-hidden />} isDangerous onSelect={() => setOpen('suspend')}>
            Suspend…
          </MenuItem>
        )}
      </Menu>
      <Confirm
        isOpen={open === 'suspend'}
        onClose={close}
        title={`Suspend ${name}?`}
        action="Suspend account"
        isDangerous
        write={actions.suspend(account.id)}
        onDone={() => showToast('Account suspended')}
      >
        <p>
          Its API keys are refused at once, so its customers’ licenses can’t be verified. Its owner can read
          and export, and nothing else. Its subscription continues.
        </p>
      </Confirm>
      <Confirm
        isOpen={open === 'reinstate'}
        onClose={close}
        title={`Reinstate ${name}?`}
        action="Reinstate account"
        write={actions.reinstate(account.id)}
        onDone={() => showToast('Account reinstated')}
      >
        <p>Its API keys work again at once.</p>
      </Confirm>
      <Confirm
        isOpen={open === 'two-factor'}
        onClose={close}
        title="Reset two-factor authentication?"
        action="Reset in 48 hours"
        write={actions.resetTwoFactor(account.id)}
        onDone={() => showToast('Two-factor authentication turns off in 48 hours')}
      >
        <p>
          For an owner who has lost the app and the recovery codes. {account.email} gets an email at once, and
          signing in with a code stops the reset.
        </p>
      </Confirm>
      <Dialog
        isOpen={open === 'grant'}
        onClose={close}
        title="Grant a plan"
        hint="Without payment. The better one of the granted and the paid plan applies."
      >
        <GrantForm account={account} actions={actions} onClose={close} />
      </Dialog>
      <Dialog
        isOpen={open === 'email'}
        onClose={close}
        title="Change the email address"
        hint="For an owner who has lost the mailbox. Make sure first that the new address is theirs. The old one gets an email at once, and signing in stops the change."
      >
        <EmailForm account={account} actions={actions} onClose={close} />
      </Dialog>
      <Dialog
        isOpen={open === 'database'}
        onClose={close}
        title="Move to another database"
        hint="Calls are answered meanwhile. Changes to the account are refused until its rows are there, for a few seconds or minutes, and callers retry them."
      >
        <DatabaseForm account={account} actions={actions} onClose={close} />
      </Dialog>
    </>
  );
};
