import { useMutation } from '@tanstack/react-query';
import { forgotPassword } from '../../data/access-mutations.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { AlternateLink, SignInFrame } from './frame.tsx';
import { MailPreview, useLacksMail } from './mail-preview.tsx';

const BACK = (
  <AlternateLink question="Remembered it?" to="/login" next={undefined}>
    Sign in
  </AlternateLink>
);

export const ForgotPassword = () => {
  const forgot = useMutation(forgotPassword);
  const lacksMail = useLacksMail();
  if (lacksMail) {
    return (
      <SignInFrame
        title="Reset your password"
        hint="This service can’t send email. Ask its operator for help."
        below={BACK}
      />
    );
  }
  if (forgot.isSuccess) {
    return (
      <SignInFrame
        title="Check your email"
        hint={`If ${forgot.variables.email} belongs to an account, it gets an email with a link to choose a new password. The link works once, for an hour.`}
        below={BACK}
      >
        <MailPreview />
      </SignInFrame>
    );
  }
  return (
    <SignInFrame
      title="Reset your password"
      hint="We’ll send you a link to choose a new password."
      below={BACK}
    >
      <Form write={forgot} onSend={({ email = '' }) => forgot.mutate({ email })}>
        <TextField label="Email" name="email" type="email" autoComplete="username" autoFocus required />
        <Button type="submit" variant="solid" isBusy={forgot.isPending}>
          Send link
        </Button>
      </Form>
    </SignInFrame>
  );
};
