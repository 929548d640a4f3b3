// Fills the reader's own values into the code of the guides: the service's address always, and for whoever is signed in the
// account's id and the name of an API key. No secret and no key ever gets into a page.

/** `data/session.ts` keeps the account's id under this name while somebody is signed in. */
const ACCOUNT = 'latchkey.account';

interface ApiKeys {
  data: { name: string | null; scope: string; expires_at: string | null }[];
}

const fill = (name: string, text: string) => {
  for (const place of document.querySelectorAll(`[data-fill="${name}"]`)) place.textContent = text;
};

const show = (name: string, value: string) => {
  const panel = document.querySelector<HTMLElement>('#values');
  const term = document.createElement('dt');
  term.textContent = name;
  const description = document.createElement('dd');
  description.textContent = value;
  panel?.querySelector('dl')?.append(term, description);
  if (panel) panel.hidden = false;
};

/** The name of a live key that may ship inside an application. Null if there is none, or no session. */
const readKeyName = async (): Promise<{ isSignedIn: boolean; name: string | null }> => {
  const response = await fetch('/api/api-keys?limit=100');
  if (!response.ok) return { isSignedIn: false, name: null };
  const { data } = (await response.json()) as ApiKeys;
  const live = data.find(
    ({ name, scope, expires_at: end }) =>
      scope === 'verify' && name !== null && (end === null || Date.parse(end) > Date.now()),
  );
  return { isSignedIn: true, name: live?.name ?? null };
};

export const fillInValues = async () => {
  fill('base-url', location.origin);
  show('Base URL', location.origin);
  const account = localStorage.getItem(ACCOUNT);
  // Without an account in this browser, there is no need to ask.
  if (account === null) return;
  const { isSignedIn, name } = await readKeyName();
  if (!isSignedIn) return;
  fill('account', account);
  show('Account', account);
  if (name === null) return;
  fill('verify-key', `of scope verify: yours is “${name}”`);
  show('API key for applications', name);
};
