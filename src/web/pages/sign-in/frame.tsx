import { Link, useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { rememberSession } from '../../data/session.ts';
import { Logo } from '../../ui/logo.tsx';
import { useTitle } from '../../ui/page.tsx';

/** Stores the session and opens the page that the visitor wanted to see. */
export const useCompleteSignIn = (next: string | undefined) => {
  const router = useRouter();
  return async ({ account }: { account: { id: string } }) => {
    rememberSession(account.id);
    await router.navigate({ href: next ?? '/', replace: true });
  };
};

export const SignInFrame = ({
  title,
  hint,
  below,
  children,
}: {
  title: string;
  hint: ReactNode;
  below?: ReactNode;
  children?: ReactNode;
}) => {
  useTitle(title);
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <Logo className="mb-6 size-10" />
        <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
        <p className="mt-1 mb-6 text-muted">{hint}</p>
        {children}
        {below && <p className="mt-6 text-sm text-muted">{below}</p>}
      </div>
    </main>
  );
};

export const LINK =
  'font-medium text-ink underline decoration-line-strong underline-offset-4 hover:decoration-ink';

/** Links sign-in and registration to each other, and passes on the page to open afterwards. */
export const AlternateLink = ({
  question,
  to,
  next,
  children,
}: {
  question: string;
  to: '/login' | '/register';
  next: string | undefined;
  children: string;
}) => (
  <>
    {question}{' '}
    <Link to={to} search={{ next }} className={LINK}>
      {children}
    </Link>
  </>
);
