import { dropDrafts } from './drafts.ts';
import { settleProof } from './proof.ts';
import { queryClient } from './query-client.ts';

// The session is a cookie that scripts can't read. The account id is stored, so that the first page knows without a
// request whether to show the sign-in form.

const ACCOUNT = 'latchkey.account';
const SIGNED_OUT = 'latchkey.signed-out';

export const signedInAccountId = (): string | null => localStorage.getItem(ACCOUNT);

export const rememberSession = (accountId: string) => {
  queryClient.clear();
  dropDrafts(accountId);
  localStorage.setItem(ACCOUNT, accountId);
};

/** Forgets the session that has ended. What its user had typed is there when they sign in again. */
export const loseSession = () => {
  for (const key of Object.keys(localStorage)) if (key.startsWith(ACCOUNT)) localStorage.removeItem(key);
  queryClient.clear();
  // The page that comes next can't prove it.
  settleProof(false);
};

export const forgetSession = () => {
  dropDrafts(null);
  // Other tabs have drafts of their own, which a session that is merely lost leaves to them.
  localStorage.setItem(SIGNED_OUT, '');
  localStorage.removeItem(SIGNED_OUT);
  loseSession();
};

/** Preferences are kept in this browser until the account signs out. */
export const readPreference = (name: string): string | null => localStorage.getItem(`${ACCOUNT}.${name}`);
export const writePreference = (name: string, text: string) =>
  localStorage.setItem(`${ACCOUNT}.${name}`, text);

const leaving = new AbortController();
/** Aborted once another tab has signed out, or has signed in to another account: calls of this page would be made with that session. */
export const sessionEnded = leaving.signal;

const leave = () => {
  leaving.abort();
  location.reload();
};

/** Reloads the page when another tab signs out or signs in to another account, so that no data stays visible. */
export const followOtherTabs = () =>
  addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === SIGNED_OUT) dropDrafts(null);
    if (key === ACCOUNT && oldValue !== newValue) leave();
  });
