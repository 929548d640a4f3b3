import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { logIn } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { AlternateLink, SignInFrame, useCompleteSignIn } from './frame.tsx';

const route = getRouteApi('/login');

export const Login = () => {
  const search = route.useSearch();
  const login = useMutation({ ...logIn, onSuccess: useCompleteSignIn(search.next) });
  return (
    <SignInFrame
      title="Sign in"
      hint={search.lost ? 'Your session has ended. Sign in to continue where you were.' : 'Welcome back.'}
      below={
        <AlternateLink question="No account yet?" to="/register" next={search.next}>
          Create one
        </AlternateLink>
      }
    >
      <Form write={login} onSend={({ email = '', password = '' }) => login.mutate({ email, password })}>
        <TextField label="Email" name="email" type="email" autoComplete="username" autoFocus required />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
        <Button type="submit" variant="solid" isBusy={login.isPending}>
          Sign in
        </Button>
      </Form>
    </SignInFrame>
  );
};
