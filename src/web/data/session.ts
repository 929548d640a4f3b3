import { queryClient } from './query-client.ts';

// The session itself is a cookie that no script can read. What is kept here is only whose it is, so that the
// first page knows without a request whether to ask for a password.

const ACCOUNT = 'latchkey.account';

export const signedInAs = (): string | null => localStorage.getItem(ACCOUNT);

export const rememberSession = (accountId: string) => {
  queryClient.clear();
  localStorage.setItem(ACCOUNT, accountId);
};

export const forgetSession = () => {
  for (const key of Object.keys(localStorage)) if (key.startsWith(ACCOUNT)) localStorage.removeItem(key);
  queryClient.clear();
};

/** What this browser remembers of the account's ways, for as long as it is signed in. */
export const readNote = (name: string): string | null => localStorage.getItem(`${ACCOUNT}.${name}`);
export const writeNote = (name: string, text: string) => localStorage.setItem(`${ACCOUNT}.${name}`, text);

/** Another tab signed in as somebody else, or out: nothing of the account before may stay on this page. */
export const followOtherTabs = () =>
  addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === ACCOUNT && oldValue !== newValue) location.reload();
  });
