import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { disableTwoFactor } from '../../data/access-mutations.ts';
import { accountQuery } from '../../data/queries.ts';
import { formatExact } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { SettingsFrame } from './frame.tsx';
import { SetUpTwoFactor } from './set-up-two-factor.tsx';

const DisableForm = ({ onClose }: { onClose: () => void }) => {
  const disable = useMutation({
    ...disableTwoFactor,
    onSuccess: () => showToast('Two-factor authentication is off'),
  });
  const send = ({ current_password = '', code = '' }: Record<string, string>) =>
    disable.mutate({ current_password, code: code.trim() }, { onSuccess: onClose });
  return (
    <Form write={disable} onSend={send}>
      <TextField
        label="Your password"
        name="current_password"
        type="password"
        autoComplete="current-password"
        required
      />
      <TextField
        label="Code"
        name="code"
        autoComplete="one-time-code"
        spellCheck={false}
        hint="From your authenticator app, or a recovery code."
        required
        className="nums"
      />
      <FormActions onCancel={onClose} isBusy={disable.isPending}>
        Turn off
      </FormActions>
    </Form>
  );
};

export const TwoFactorSettings = () => {
  const { data: account } = useQuery(accountQuery);
  const [open, setOpen] = useState<'set-up' | 'disable' | null>(null);
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
            <Button
              ref={button}
              size="sm"
              disabled={!account}
              onClick={() => setOpen(isEnabled ? 'disable' : 'set-up')}
            >
              {isEnabled ? 'Turn off' : 'Set up'}
            </Button>
          }
        />
        <p className="px-5 pb-5">
          <StateBadge tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? 'On' : 'Off'}</StateBadge>
        </p>
        {account?.two_factor_reset_at && (
          <p className="px-5 pb-5">
            The operator of the service was asked to turn it off. It goes off on{' '}
            {formatExact(account.two_factor_reset_at)}, unless a code is used before.
          </p>
        )}
      </Card>
      <SetUpTwoFactor isOpen={open === 'set-up'} onClose={close} focusAfter={() => button.current} />
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
