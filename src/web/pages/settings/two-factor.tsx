import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { disableTwoFactor, replaceRecoveryCodes } from '../../data/access-mutations.ts';
import { accountQuery } from '../../data/queries.ts';
import { formatExact } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showToast } from '../../ui/toast.tsx';
import { CodeField } from './code-field.tsx';
import { SettingsFrame } from './frame.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { SetUpTwoFactor } from './set-up-two-factor.tsx';

const ProofFields = () => (
  <>
    <TextField
      label="Your password"
      name="current_password"
      type="password"
      autoComplete="current-password"
      required
    />
    <CodeField />
  </>
);

const readProof = ({ current_password = '', code = '' }: Record<string, string>) => ({
  current_password,
  code: code.trim(),
});

const DisableForm = ({ onClose }: { onClose: () => void }) => {
  const disable = useMutation({
    ...disableTwoFactor,
    onSuccess: () => showToast('Two-factor authentication is off'),
  });
  return (
    <Form write={disable} onSend={(values) => disable.mutate(readProof(values), { onSuccess: onClose })}>
      <ProofFields />
      <FormActions onCancel={onClose} isBusy={disable.isPending}>
        Turn off
      </FormActions>
    </Form>
  );
};

const ReplaceForm = ({
  onReplaced,
  onClose,
}: {
  onReplaced: (codes: string[]) => void;
  onClose: () => void;
}) => {
  const replace = useMutation({
    ...replaceRecoveryCodes,
    onSuccess: ({ recovery_codes }) => onReplaced(recovery_codes),
  });
  return (
    <Form write={replace} onSend={(values) => replace.mutate(readProof(values))}>
      <ProofFields />
      <FormActions onCancel={onClose} isBusy={replace.isPending}>
        Make new codes
      </FormActions>
    </Form>
  );
};

const ReplaceCodes = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => {
  const [codes, setCodes] = useState<string[] | null>(null);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      onClosed={() => setCodes(null)}
      title={codes ? 'Save your recovery codes' : 'Make new recovery codes?'}
      hint={!codes && 'The ones that you have will stop working.'}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onDone={onClose} />
      ) : (
        <ReplaceForm onReplaced={setCodes} onClose={onClose} />
      )}
    </Dialog>
  );
};

export const TwoFactorSettings = () => {
  const { data: account, error, refetch } = useQuery(accountQuery);
  const [open, setOpen] = useState<'set-up' | 'disable' | 'codes' | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => setOpen(null);
  const isEnabled = account?.two_factor ?? false;
  return (
    <SettingsFrame section="Two-factor">
      <Card>
        <CardHeader
          title="Two-factor authentication"
          hint="At each sign-in, you also enter a code that an app on your phone shows."
          actions={
            account && (
              <Button ref={button} size="sm" onClick={() => setOpen(isEnabled ? 'disable' : 'set-up')}>
                {isEnabled ? 'Turn off' : 'Set up'}
              </Button>
            )
          }
        />
        {account ? (
          <p className="flex items-center justify-between gap-4 px-5 pb-5">
            <StateBadge tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? 'On' : 'Off'}</StateBadge>
            {isEnabled && (
              <Button size="sm" onClick={() => setOpen('codes')}>
                New recovery codes
              </Button>
            )}
          </p>
        ) : error ? (
          <LoadError error={error} onRetry={() => void refetch()} />
        ) : (
          <div className="px-5 pb-5">
            <Skeleton className="h-5 w-12" />
          </div>
        )}
        {account?.two_factor_reset_at && (
          <p className="px-5 pb-5">
            The operator of the service was asked to turn it off. It turns off on{' '}
            {formatExact(account.two_factor_reset_at)}, unless a code is used before then.
          </p>
        )}
      </Card>
      <SetUpTwoFactor isOpen={open === 'set-up'} onClose={close} focusAfter={() => button.current} />
      <ReplaceCodes isOpen={open === 'codes'} onClose={close} />
      <Dialog
        isOpen={open === 'disable'}
        onClose={close}
        title="Turn off two-factor authentication?"
        hint="Your password alone is then enough to sign in."
      >
        <DisableForm onClose={close} />
      </Dialog>
    </SettingsFrame>
  );
};
