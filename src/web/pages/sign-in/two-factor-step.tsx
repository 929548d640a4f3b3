import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { logInWithCode } from '../../data/access-mutations.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { LINK, SignInFrame, useCompleteSignIn } from './frame.tsx';

/** The second step of a sign-in: a code from the authenticator app, or a recovery code. */
export const TwoFactorStep = ({ challenge, next }: { challenge: string; next: string | undefined }) => {
  const [isRecovery, setRecovery] = useState(false);
  const login = useMutation({ ...logInWithCode, onSuccess: useCompleteSignIn(next) });
  return (
    <SignInFrame
      title="Two-factor authentication"
      hint={
        isRecovery
          ? 'Enter one of the recovery codes that you saved. It works once.'
          : 'Enter the code that your authenticator app shows.'
      }
      below={
        // Loads the page again, since the first step may be at the same address.
        <a href={next ? `/login?next=${encodeURIComponent(next)}` : '/login'} className={LINK}>
          Sign in again
        </a>
      }
    >
      <Form
        key={String(isRecovery)}
        write={login}
        onSend={({ code = '' }) => login.mutate({ challenge, code: code.trim() })}
      >
        <TextField
          label={isRecovery ? 'Recovery code' : 'Code'}
          name="code"
          autoComplete={isRecovery ? 'off' : 'one-time-code'}
          inputMode={isRecovery ? 'text' : 'numeric'}
          spellCheck={false}
          autoFocus
          required
          className="nums"
        />
        <Button type="submit" variant="solid" isBusy={login.isPending}>
          Sign in
        </Button>
        <Button variant="quiet" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
        </Button>
      </Form>
    </SignInFrame>
  );
};
