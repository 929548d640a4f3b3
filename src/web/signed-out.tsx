import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';
import { signedInAccountId } from './data/session.ts';
import { type SignInSearch, signInSearch } from './search.ts';

// The root of all routes, and the pages of whoever isn't signed in.

export const root = createRootRoute({ component: Outlet });

const redirectSignedIn = ({ search }: { search: SignInSearch }) => {
  if (signedInAccountId() !== null) throw redirect({ href: search.next ?? '/' });
};

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: signInSearch,
  beforeLoad: redirectSignedIn,
  component: lazyRouteComponent(() => import('./pages/sign-in/login.tsx'), 'Login'),
});

const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: signInSearch,
  beforeLoad: redirectSignedIn,
  component: lazyRouteComponent(() => import('./pages/sign-in/register.tsx'), 'Register'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages/sign-in/forgot-password.tsx'), 'ForgotPassword'),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/sign-in/reset-password.tsx'), 'ResetPassword'),
});

const restoreEmail = createRoute({
  getParentRoute: () => root,
  path: '/restore-email',
  component: lazyRouteComponent(() => import('./pages/sign-in/restore-email.tsx'), 'RestoreEmail'),
});

const verifyEmail = createRoute({
  getParentRoute: () => root,
  path: '/verify-email',
  component: lazyRouteComponent(() => import('./pages/sign-in/verify-email.tsx'), 'VerifyEmail'),
});

const operator = createRoute({
  getParentRoute: () => root,
  path: '/operator',
  component: lazyRouteComponent(() => import('./pages/operator/operator.tsx'), 'OperatorPage'),
});

export const signedOutRoutes = [
  login,
  register,
  forgotPassword,
  resetPassword,
  restoreEmail,
  verifyEmail,
  operator,
] as const;
