import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { register } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { OtherWay, SignInFrame, useEnter } from './frame.tsx';

const route = getRouteApi('/register');

export const Register = () => {
  const { next } = route.useSearch();
  const registration = useMutation({ ...register, onSuccess: useEnter(next) });
  const send = ({ email = '', password = '', name = '' }: Record<string, string>) =>
    registration.mutate({ email, password, ...(name && { name }) });
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
      <Form write={registration} onSend={send}>
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
        <Button type="submit" variant="solid" isBusy={registration.isPending}>
          Create account
        </Button>
      </Form>
    </SignInFrame>
  );
};
