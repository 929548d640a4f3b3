// Owners, with and without two-factor authentication, and what thieves do.
import { vi } from 'vitest';
import { type Answer, type Json, outcomeOf, PASSWORD, signUp } from '../support/client.ts';
import { mailsTo } from '../support/mails.ts';
import { asVisitor, verifyAddress, withToken } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

export const VARIANTS = [
  { name: 'without two-factor', hasTwoFactor: false },
  { name: 'with two-factor', hasTwoFactor: true },
];

export const NEW_PASSWORD = 'a new horse battery';
export const CUSTOMER = 'customer@example.com';
export const MINUTE_MS = 60_000;

const cookieHeader = (cookie: string) => (cookie === '' ? {} : { cookie });

/** Signs in as whoever has only the password. */
export const trySignIn = (email: string, password: string, cookie = '') =>
  asVisitor('/api/login', { email, password }, cookieHeader(cookie));

/** Sets a new password as whoever reads the emails. */
export const resetByMail = async (email: string, password: string): Promise<Answer> => {
  const links = () => mailsTo(email).filter(({ subject }) => subject === 'Reset your password');
  const before = links().length;
  await asVisitor('/api/forgot-password', { email });
  await waitUntil(() => links().length > before);
  const [token = ''] = /lkt_\w+/.exec(links().at(-1)?.text ?? '') ?? [];
  return asVisitor('/api/reset-password', { token, password });
};

export const challengeIn = ({ body }: Answer): string => body.error.details[0].message;

/** Sends wrong codes to a challenge, and returns what they are answered. */
export const guessCodes = async (challenge: string, count: number, cookie = ''): Promise<string[]> => {
  const outcomes: string[] = [];
  for (let i = 0; i < count; i++) {
    const guess = { challenge, code: '000 000 0' };
    outcomes.push(outcomeOf(await asVisitor('/api/login/two-factor', guess, cookieHeader(cookie))));
  }
  return outcomes;
};

export const tokenIn = ({ body }: Answer): string => body.session.token;

export const browserIn = ({ headers }: Answer): string =>
  /__Host-browser=\w+/.exec(headers.getSetCookie().join('\n'))?.[0] ?? '';

/** Returns the entries of the audit log that a session sees, newest first. */
export const entriesFor = async (token: string, action: string): Promise<Json[]> =>
  (await withToken(token, 'GET', `/api/audit-log?action=${action}`)).body.data;

/** An owner whose address is proved, with a customer's license. */
export const newOwner = async ({ hasTwoFactor }: { hasTwoFactor: boolean }) => {
  const account = await signUp();
  const { email, accountId } = account;
  await verifyAddress(accountId);
  await account.createLicense({ customer_email: CUSTOMER });
  const code = hasTwoFactor ? (await enableTwoFactor(account)).code : null;
  /** Answers the question for a code, if there is one, as only the owner can. */
  const enter = async (answer: Answer, cookie: string): Promise<Answer> => {
    if (code === null || outcomeOf(answer) !== '401 two_factor_required') return answer;
    vi.advanceTimersByTime(MINUTE_MS);
    const proof = { challenge: challengeIn(answer), code: code() };
    return asVisitor('/api/login/two-factor', proof, cookieHeader(cookie));
  };
  return {
    ...account,
    signIn: async (password = PASSWORD, cookie = '') =>
      enter(await trySignIn(email, password, cookie), cookie),
    reset: async (password: string) => enter(await resetByMail(email, password), ''),
    /** The subjects of the emails that the owner has got. */
    told: () => mailsTo(email).map(({ subject }) => subject),
    /** The token of the link in an email to the owner. */
    linkIn: (about: string) =>
      /lkt_\w+/.exec(mailsTo(email).findLast(({ subject }) => subject === about)?.text ?? '')?.[0] ?? '',
    /** Waits until the owner has got an email about something. */
    isTold: (about: string) => waitUntil(() => mailsTo(email).some(({ subject }) => subject === about)),
  };
};
