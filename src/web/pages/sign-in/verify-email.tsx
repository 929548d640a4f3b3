import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { verifyEmail } from '../../data/access-mutations.ts';
import { ApiError } from '../../data/error.ts';
import { signedInAccountId } from '../../data/session.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { SignInFrame } from './frame.tsx';
import { isBadToken, useToken } from './use-token.ts';

const CONTINUE = (
  <ButtonLink to="/settings" variant="solid">
    Continue
  </ButtonLink>
);

const isAskedWhoTheyAre = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'reauthentication_required';

/**
 * A click is needed, so that programs that open the links of emails verify nothing. Whoever isn't signed in to the account in
 * this browser also enters its password.
 */
export const VerifyEmail = () => {
  const token = useToken();
  const [needsPassword, setNeedsPassword] = useState(() => signedInAccountId() === null);
  const verify = useMutation({
    ...verifyEmail,
    onError: (error) => isAskedWhoTheyAre(error) && setNeedsPassword(true),
  });
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
        hint="It was already used, or is older than a day. You can send a new one from the settings."
      >
        {CONTINUE}
      </SignInFrame>
    );
  }
  return (
    <SignInFrame
      title="Verify your email address"
      hint={
        needsPassword
          ? 'Enter the password of your account to confirm that this email address is yours.'
          : 'Confirm that this email address is yours.'
      }
    >
      <Form
        write={verify}
        onSend={({ password }) => verify.mutate({ token, ...(password !== undefined && { password }) })}
      >
        {needsPassword && (
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            autoFocus
            required
          />
        )}
        <Button type="submit" variant="solid" autoFocus={!needsPassword} isBusy={verify.isPending}>
          Verify email address
        </Button>
      </Form>
    </SignInFrame>
  );
};
