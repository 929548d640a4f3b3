import { getRouteApi } from '@tanstack/react-router';
import { api, call } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { useEnter } from './enter.ts';
import { OtherWay, SignInFrame } from './frame.tsx';

const route = getRouteApi('/login');

export const Login = () => {
  const search = route.useSearch();
  const enter = useEnter(search.next);
  const send = async ({ email = '', password = '' }: Record<string, string>) => {
    const { account } = await call(api.login.$post({ json: { email, password } }));
    await enter(account.id);
  };
  return (
    <SignInFrame
      title="Sign in"
      hint={
        search.lost ? 'Your session has ended. Sign in to go on where you were.' : 'Good to see you again.'
      }
      below={
        <OtherWay question="No account yet?" to="/register" next={search.next}>
          Create one
        </OtherWay>
      }
    >
      <Form onSend={send}>
        {({ isBusy }) => (
          <>
            <TextField label="E-mail" name="email" type="email" autoComplete="username" autoFocus required />
            <TextField
              label="Password"
              name="password"
              type="password"
              autoComplete="current-password"
              required
            />
            <Button type="submit" variant="solid" isBusy={isBusy}>
              Sign in
            </Button>
          </>
        )}
      </Form>
    </SignInFrame>
  );
};
