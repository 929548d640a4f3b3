import { getRouteApi } from '@tanstack/react-router';
import { api, call } from '../../data/client.ts';
import { ApiError } from '../../data/error.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { useEnter } from './enter.ts';
import { OtherWay, SignInFrame } from './frame.tsx';

const route = getRouteApi('/register');

/** Who has an account with this address already is told so where the address stands. */
const atItsField = (error: unknown) =>
  error instanceof ApiError && error.code === 'email_taken'
    ? new ApiError(error.status, {
        code: error.code,
        message: error.message,
        request_id: error.requestId,
        details: [{ path: 'email', message: 'There is an account with this e-mail already.' }],
      })
    : error;

export const Register = () => {
  const { next } = route.useSearch();
  const enter = useEnter(next);
  const send = async ({ email = '', password = '', name = '' }: Record<string, string>) => {
    try {
      const { account } = await call(
        api.register.$post({ json: { email, password, ...(name && { name }) } }),
      );
      await enter(account.id);
    } catch (error) {
      throw atItsField(error);
    }
  };
  return (
    <SignInFrame
      title="Create your account"
      hint="A thousand licensing calls a month, free."
      below={
        <OtherWay question="Have an account?" to="/login" next={next}>
          Sign in
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
              autoComplete="new-password"
              minLength={10}
              hint="At least 10 characters."
              required
            />
            <TextField
              label="Name"
              name="name"
              autoComplete="organization"
              hint="Yours or your company’s. Optional."
            />
            <Button type="submit" variant="solid" isBusy={isBusy}>
              Create account
            </Button>
          </>
        )}
      </Form>
    </SignInFrame>
  );
};
