import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { MIN_PASSWORD_LENGTH } from '../../../shared/rules/accounts.ts';
import { resetPassword } from '../../data/access-mutations.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { AlternateLink, SignInFrame, useCompleteSignIn } from './frame.tsx';
import { TwoFactorStep } from './two-factor-step.tsx';
import { isBadToken, useToken } from './use-token.ts';

const BACK = (
  <AlternateLink question="Remembered it?" to="/login" next={undefined}>
    Sign in
  </AlternateLink>
);

const BadLink = () => (
  <SignInFrame
    title="This link doesn’t work"
    hint="It was already used, is older than an hour, or was replaced by a newer one."
    below={BACK}
  >
    <ButtonLink to="/forgot-password" variant="solid">
      Send a new link
    </ButtonLink>
  </SignInFrame>
);

export const ResetPassword = () => {
  const token = useToken();
  const [challenge, setChallenge] = useState<string | null>(null);
  const complete = useCompleteSignIn(undefined);
  const reset = useMutation({
    ...resetPassword,
    onSuccess: (result) => ('challenge' in result ? setChallenge(result.challenge) : complete(result)),
  });
  if (challenge !== null) return <TwoFactorStep challenge={challenge} next={undefined} />;
  if (token === null || isBadToken(reset.error)) return <BadLink />;
  return (
    <SignInFrame
      title="Choose a new password"
      hint="All sessions end, and this browser is signed in."
      below={BACK}
    >
      <Form write={reset} onSend={({ password = '' }) => reset.mutate({ token, password })}>
        <TextField
          label="New password"
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={MIN_PASSWORD_LENGTH}
          hint={`At least ${MIN_PASSWORD_LENGTH} characters.`}
          autoFocus
          required
        />
        <Button type="submit" variant="solid" isBusy={reset.isPending}>
          Set password
        </Button>
      </Form>
    </SignInFrame>
  );
};
