import { useMutation } from '@tanstack/react-query';
import { verifyEmail } from '../../data/access-mutations.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { SignInFrame } from './frame.tsx';
import { isBadToken, useToken } from './use-token.ts';

const CONTINUE = (
  <ButtonLink to="/settings" variant="solid">
    Continue
  </ButtonLink>
);

/** A click is needed, so that programs that open the links of emails verify nothing. */
export const VerifyEmail = () => {
  const token = useToken();
  const verify = useMutation(verifyEmail);
  if (verify.isSuccess) {
    return (
      <SignInFrame
        title="Email address verified"
        hint={`${verify.data.email} is the address of your account.`}
      >
        {CONTINUE}
      </SignInFrame>
    );
  }
  if (token === null || isBadToken(verify.error)) {
    return (
      <SignInFrame
        title="This link doesn’t work"
        hint="It was used before, or it is older than a day. You can send a new one in the settings."
      >
        {CONTINUE}
      </SignInFrame>
    );
  }
  return (
    <SignInFrame title="Verify your email address" hint="Confirm that this email address is yours.">
      <Form write={verify} onSend={() => verify.mutate(token)}>
        <Button type="submit" variant="solid" autoFocus isBusy={verify.isPending}>
          Verify email address
        </Button>
      </Form>
    </SignInFrame>
  );
};
