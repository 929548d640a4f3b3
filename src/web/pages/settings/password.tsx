import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { MIN_PASSWORD_LENGTH } from '../../../shared/rules/accounts.ts';
import { changePassword } from '../../data/access-mutations.ts';
import { accountQuery } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { SettingsFrame } from './frame.tsx';

export const PasswordSettings = () => {
  const { data: account } = useQuery(accountQuery);
  // A new key empties the form.
  const [changes, setChanges] = useState(0);
  const change = useMutation({
    ...changePassword,
    onSuccess: () => {
      setChanges((count) => count + 1);
      showToast('Password changed');
    },
  });
  return (
    <SettingsFrame section="Password">
      <Card>
        <CardHeader title="Password" hint="All other sessions end when you change it." />
        <Form
          key={changes}
          write={change}
          onSend={({ current_password = '', password = '' }) => change.mutate({ current_password, password })}
          className="max-w-md px-5 pb-5"
        >
          {/* Lets a password manager find the account. */}
          <input type="hidden" name="email" autoComplete="username" value={account?.email ?? ''} readOnly />
          <TextField
            label="Current password"
            name="current_password"
            type="password"
            autoComplete="current-password"
            required
          />
          <TextField
            label="New password"
            name="password"
            type="password"
            autoComplete="new-password"
            minLength={MIN_PASSWORD_LENGTH}
            hint={`At least ${MIN_PASSWORD_LENGTH} characters.`}
            required
          />
          <div>
            <Button type="submit" variant="solid" isBusy={change.isPending}>
              Change password
            </Button>
          </div>
        </Form>
      </Card>
    </SettingsFrame>
  );
};
