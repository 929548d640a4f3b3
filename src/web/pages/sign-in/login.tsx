import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { logIn } from '../../data/access-mutations.ts';
import { formatDate } from '../../lib/format.ts';
import type { SignInSearch } from '../../search.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { AlternateLink, LINK, SignInFrame, useCompleteSignIn } from './frame.tsx';
import { useHasMail, useIsOpen } from './mail-preview.tsx';
import { TwoFactorStep } from './two-factor-step.tsx';

const route = getRouteApi('/login');

const hintOf = ({ lost, erased_by: erasedBy }: SignInSearch): string => {
  if (erasedBy)
    return `Your account will be deleted on ${formatDate(erasedBy)}. To keep it, sign in before that day.`;
  return lost
    ? 'Your session has ended. Sign in to continue where you left off.'
    : 'Sign in to your account.';
};

export const Login = () => {
  const search = route.useSearch();
  const hasMail = useHasMail();
  const isOpen = useIsOpen();
  const [challenge, setChallenge] = useState<string | null>(null);
  const complete = useCompleteSignIn(search.next);
  const login = useMutation({
    ...logIn,
    onSuccess: (result) => ('challenge' in result ? setChallenge(result.challenge) : complete(result)),
  });
  if (challenge !== null) return <TwoFactorStep challenge={challenge} next={search.next} />;
  return (
    <SignInFrame
      title="Sign in"
      hint={hintOf(search)}
      below={
        // It keeps its place until it is known who can register.
        <span className={cx(!isOpen && 'invisible')}>
          <AlternateLink question="No account yet?" to="/register" next={search.next}>
            Create one
          </AlternateLink>
        </span>
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
        {/* It keeps its place until it is known whether the service can send the email. */}
        <p className={cx('text-sm', !hasMail && 'invisible')}>
          <Link to="/forgot-password" className={LINK}>
            Forgot your password?
          </Link>
        </p>
      </Form>
    </SignInFrame>
  );
};
