import { queryClient } from './query-client.ts';

// The session is a cookie that scripts can't read. The account id is stored, so that the first page knows without a
// request whether to show the sign-in form.

const ACCOUNT = 'latchkey.account';

/** Stays when the account signs out. */
const WAS_HERE = 'latchkey.was-here';

/** Whether somebody has signed in here before. */
export const wasHere = (): boolean => localStorage.getItem(WAS_HERE) !== null;

export const signedInAccountId = (): string | null => localStorage.getItem(ACCOUNT);

export const rememberSession = (accountId: string) => {
  queryClient.clear();
  localStorage.setItem(ACCOUNT, accountId);
  localStorage.setItem(WAS_HERE, 'true');
};

export const forgetSession = () => {
  for (const key of Object.keys(localStorage)) if (key.startsWith(ACCOUNT)) localStorage.removeItem(key);
  queryClient.clear();
};

/** Preferences are kept in this browser until the account signs out. */
export const readPreference = (name: string): string | null => localStorage.getItem(`${ACCOUNT}.${name}`);
export const writePreference = (name: string, text: string) =>
  localStorage.setItem(`${ACCOUNT}.${name}`, text);

/** Reloads the page when another tab signs out or signs in to another account, so that no data stays visible. */
export const followOtherTabs = () =>
  addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === ACCOUNT && oldValue !== newValue) location.reload();
  });
