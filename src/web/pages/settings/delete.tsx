import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { deleteAccount } from '../../data/access-mutations.ts';
import { accountQuery } from '../../data/queries.ts';
import { forgetSession } from '../../data/session.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { CodeField } from './code-field.tsx';
import { SettingsFrame } from './frame.tsx';

const DeleteForm = () => {
  const { data: account } = useQuery(accountQuery);
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const erase = useMutation({
    ...deleteAccount,
    onSuccess: ({ erased_by }) => {
      forgetSession();
      return navigate({ to: '/login', search: { erased_by }, replace: true });
    },
  });
  return (
    <Form
      write={erase}
      onSend={({ current_password = '', confirm = '', code }) =>
        erase.mutate({ current_password, confirm, ...(code !== undefined && { code: code.trim() }) })
      }
      className="max-w-md"
    >
      <TextField
        label="Your password"
        name="current_password"
        type="password"
        autoComplete="current-password"
        required
      />
      {account?.two_factor && <CodeField />}
      <TextField
        label="Type your email address to confirm"
        name="confirm"
        type="email"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        hint={account?.email}
        required
      />
      <div>
        <Button
          type="submit"
          variant="danger"
          isBusy={erase.isPending}
          disabled={typed.trim().toLowerCase() !== account?.email}
        >
          Delete account
        </Button>
      </div>
    </Form>
  );
};

export const DeleteSettings = () => (
  <SettingsFrame section="Delete account">
    <Card>
      <CardHeader
        title="Delete the account"
        actions={
          <ButtonLink to="/settings/export" size="sm">
            Export first
          </ButtonLink>
        }
      />
      <div className="grid gap-4 px-5 pb-5">
        <ul className="grid max-w-2xl list-disc gap-1.5 pl-5 text-muted">
          <li>
            Your API keys are refused at once, so applications can’t verify licenses anymore. Your
            subscription is canceled, and all sessions end.
          </li>
          <li>After 7 days, everything is deleted for good: licenses, customers, webhooks, and history.</li>
          <li>Until then, signing in keeps the account. The subscription stays canceled.</li>
        </ul>
        <DeleteForm />
      </div>
    </Card>
  </SettingsFrame>
);
