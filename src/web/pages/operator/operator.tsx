import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { reword } from '../../data/error.ts';
import { operatorActions, readAccounts } from '../../data/operator.ts';
import { queryClient } from '../../data/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { SignInFrame } from '../sign-in/frame.tsx';
import { Accounts } from './accounts.tsx';
import { Invite } from './invite.tsx';
import { Watched } from './watched.tsx';

const TokenForm = ({ onOpen }: { onOpen: (token: string) => void }) => {
  const open = useMutation({
    mutationFn: async (token: string) => {
      await readAccounts(token, '', 'newest')
        .catch(reword('not_found', { message: 'This service has no operator token. Set OPERATOR_TOKEN.' }))
        .catch(reword('invalid_credentials', { message: 'This isn’t the operator token.' }));
      return token;
    },
    onSuccess: onOpen,
  });
  return (
    <SignInFrame
      title="Operator"
      hint="For whoever runs this service. The token is only kept while this page is open."
    >
      <Form write={open} onSend={({ token = '' }) => open.mutate(token.trim())}>
        <TextField
          label="Operator token"
          name="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          required
        />
        <Button type="submit" variant="solid" isBusy={open.isPending}>
          Open
        </Button>
      </Form>
    </SignInFrame>
  );
};

/** Everything that an operator looks at, by the calls of the command-line tool. */
export const OperatorPage = () => {
  const [token, setToken] = useState<string | null>(null);
  // What the token has opened goes with it.
  useEffect(() => () => queryClient.removeQueries({ queryKey: ['operator'] }), []);
  if (token === null) return <TokenForm onOpen={setToken} />;
  const actions = operatorActions(token);
  const close = () => {
    queryClient.removeQueries({ queryKey: ['operator'] });
    setToken(null);
  };
  return (
    <main>
      <Page
        title="Operator"
        hint="The accounts of this service, and what it has to catch up on."
        actions={
          <>
            <Invite actions={actions} />
            <Button onClick={close}>Close</Button>
          </>
        }
      >
        <Watched token={token} />
        <Accounts token={token} actions={actions} />
      </Page>
    </main>
  );
};
