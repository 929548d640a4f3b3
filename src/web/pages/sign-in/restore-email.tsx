import { useMutation } from '@tanstack/react-query';
import { restoreEmail } from '../../data/access-mutations.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { SignInFrame } from './frame.tsx';
import { MailPreview } from './mail-preview.tsx';
import { isBadToken, useToken } from './use-token.ts';

/** A click is needed, so that programs that open the links of emails take nothing back. */
export const RestoreEmail = () => {
  const token = useToken();
  const restore = useMutation(restoreEmail);
  if (restore.isSuccess) {
    return (
      <SignInFrame
        title="The address is yours again"
        hint={`The email address of your account is ${restore.data.email}. We sent it a link to choose a new password.`}
      >
        <MailPreview />
      </SignInFrame>
    );
  }
  if (token === null || isBadToken(restore.error)) {
    return (
      <SignInFrame
        title="This link doesn’t work"
        hint="It was already used, or is older than seven days. If you can’t sign in, reset your password, or contact the operator of the service."
      >
        <ButtonLink to="/forgot-password" variant="solid">
          Reset password
        </ButtonLink>
      </SignInFrame>
    );
  }
  return (
    <SignInFrame
      title="Take your email address back"
      hint="Your account gets its former address again. All sessions end, API keys and webhooks created since the change are deleted, the password stops working, and you get an email to choose a new one."
    >
      <Form write={restore} onSend={() => restore.mutate(token)}>
        <Button type="submit" variant="solid" autoFocus isBusy={restore.isPending}>
          Take the address back
        </Button>
      </Form>
    </SignInFrame>
  );
};
