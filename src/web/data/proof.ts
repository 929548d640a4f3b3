import { useSyncExternalStore } from 'react';

// A session that is older than ten minutes proves again who holds it before the calls that `reauthentication_required`
// answers. Such a call waits here for the user's password, or for a code with two-factor authentication, and is then sent again.

const PATH = '/api/reauthenticate';
/** Visitors who aren't signed in prove who they are in the call itself, so its page asks them. */
const VISITORS_PATH = '/api/verify-email';

/** The call that waits, if any, and where to ask: in the dialog that opened last, because the others are inert. */
let waiting: { settle: (isProved: boolean) => void } | null = null;
const places: string[] = [];
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Registers a place that can ask the user. Returns how to take it back. */
export const addPlace = (place: string) => {
  places.push(place);
  return () => {
    places.splice(places.indexOf(place), 1);
    changed();
  };
};

export const useIsAsked = (place: string): boolean =>
  useSyncExternalStore(subscribe, () => waiting !== null && places.at(-1) === place);

export const settleProof = (isProved: boolean) => {
  const settle = waiting?.settle;
  waiting = null;
  changed();
  settle?.(isProved);
};

const askUser = async (): Promise<boolean> => {
  settleProof(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  waiting = { settle: resolve };
  changed();
  return promise;
};

const isRefusal = async (
  answer: Response,
  code: 'reauthentication_required' | 'two_factor_required',
): Promise<boolean> => {
  if (answer.status !== 401) return false;
  const body = (await answer.clone().json()) as { error?: { code?: string } };
  return body.error?.code === code;
};

/** The password that the user has typed into the form of this request. */
const passwordIn = async (request: Request): Promise<string | undefined> => {
  const text = await request.clone().text();
  return text === '' ? undefined : (JSON.parse(text) as { current_password?: string }).current_password;
};

/** Sends a request again when the user has proved who they are. */
export const fetchProved: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const answer = await fetch(request.clone());
  if (new URL(request.url).pathname === VISITORS_PATH) return answer;
  if (!(await isRefusal(answer, 'reauthentication_required'))) return answer;
  const password = await passwordIn(request);
  if (password !== undefined) {
    const headers = { 'content-type': 'application/json' };
    const proof = await fetch(PATH, { method: 'POST', headers, body: JSON.stringify({ password }) });
    if (proof.ok) return fetch(request);
    if (!(await isRefusal(proof, 'two_factor_required'))) return proof;
  }
  return (await askUser()) ? fetch(request) : answer;
};
