import { isoTime } from '../shared/rules/dates.ts';
import { describeUserAgent } from '../shared/rules/user-agent.ts';
import type { MailContent } from '../shared/text/mail-content.ts';

// The emails about how one gets in. Their links have the token in the fragment, which browsers don't send, so no log has it.

export const RESET_NOTE = 'If it wasn’t you, reset your password now: somebody else may know it.';

/** Where the dashboard takes an email's token. */
export type TokenPage = 'verify-email' | 'reset-password' | 'restore-email';

export const tokenUrl = (origin: string, page: TokenPage, token: string) =>
  `${origin}/${page}#token=${token}`;

export const forgotPasswordLink = (origin: string) => ({
  label: 'Reset password',
  url: `${origin}/forgot-password`,
});

/** Formats a time for people whose time zone is unknown. */
export const utcTime = (ms: number) => `${isoTime(ms).slice(0, 16).replace('T', ' ')} UTC`;

export const verifyEmail = (url: string): MailContent<'way_in'> => ({
  kind: 'way_in',
  subject: 'Verify your email address',
  paragraphs: [
    'Welcome to Latchkey. Verify your email address, so that you can get back in if you forget your password.',
  ],
  link: { label: 'Verify email address', url },
  note: 'The link works for 24 hours. If you didn’t create an account, ignore this email.',
});

export const resetPassword = (url: string): MailContent<'way_in'> => ({
  kind: 'way_in',
  subject: 'Reset your password',
  paragraphs: [
    'Somebody asked to reset the password of your Latchkey account. If it was you, choose a new one.',
  ],
  link: { label: 'Choose a new password', url },
  note: 'The link works once, for an hour. If it wasn’t you, ignore this email: your password stays the same.',
});

export const confirmEmail = (url: string): MailContent<'request'> => ({
  kind: 'request',
  subject: 'Confirm your new email address',
  paragraphs: [
    'Somebody asked to use this email address for their Latchkey account. If it was you, confirm it.',
  ],
  link: { label: 'Confirm email address', url },
  note: 'The link works for 24 hours. If it wasn’t you, ignore this email: nothing changes.',
});

/** Sent to the old address when a change is requested. */
export const emailChangeRequested = (origin: string, newEmail: string): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Your email address is about to change',
  paragraphs: [
    `Somebody who is signed in to your Latchkey account asked to change its email address to ${newEmail}. It changes once the new address is confirmed.`,
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE} That also cancels the change.`,
});

/** Sent to the old address after a change, with a way back if it was ever proved. */
export const emailChanged = (newEmail: string, restoreUrl: string | null): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Your email address has changed',
  paragraphs: [
    `The email address of your Latchkey account is now ${newEmail}. Sign in with it from now on. This address gets no more emails.`,
  ],
  ...(restoreUrl !== null && { link: { label: 'Take this address back', url: restoreUrl } }),
  note:
    restoreUrl === null
      ? 'If it wasn’t you, contact the operator of the service.'
      : 'If it was you, there is nothing to do. If it wasn’t you, take the address back: all sessions end, API keys, webhooks, and stores created since the change are deleted, and the password stops working. The link works once, for seven days.',
});

/** Sent to an address that was taken back. */
export const emailRestored = (resetUrl: string): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Your account has its email address back',
  paragraphs: [
    'Your Latchkey account has this email address again. All sessions and pending changes have ended, and the password no longer works, because somebody else may know it. Choose a new one.',
    'API keys, webhooks, and stores created since the address changed have been deleted. Webhooks changed since then have been disabled, and stores changed since then need their secrets and API keys again. Review those that are left. If somebody else turned on two-factor authentication before the change, ask the operator of the service to reset it.',
  ],
  link: { label: 'Choose a new password', url: resetUrl },
  note: 'The link works once, for an hour. After that, ask for another one on the sign-in page.',
});

/** Sent to an address from which an account was taken back. */
export const emailTakenBack = (email: string): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Your email address has changed back',
  paragraphs: [
    `The email address of your Latchkey account is ${email} again: somebody used the link sent to it when the address changed. All sessions have ended, and the password no longer works.`,
  ],
  note: 'If the account is yours and this wasn’t you, contact the operator of the service.',
});

/** Sent to the old address when the operator was asked to change it. */
export const emailChangeByOperator = (
  origin: string,
  newEmail: string,
  changesAtMs: number,
): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Your email address is about to change',
  paragraphs: [
    `The operator of the service was asked to change the email address of your Latchkey account to ${newEmail}, because this one can no longer be read. It changes at ${utcTime(changesAtMs)}.`,
    'To keep this address, sign in before then.',
  ],
  link: { label: 'Sign in', url: `${origin}/login` },
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export const passwordChanged = (origin: string): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Your password has changed',
  paragraphs: ['The password of your Latchkey account has changed. All other sessions have ended.'],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

/** Sent after the first proof of an address by a reset of the password. */
export const addressClaimed = (origin: string): MailContent<'security'> => ({
  kind: 'security',
  subject: 'The account with your email address is yours',
  paragraphs: [
    'The password of your Latchkey account has changed. Nobody had proved before that its email address is theirs, so the account starts clean: earlier API keys, webhooks, stores, sessions, two-factor authentication, and pending changes have ended.',
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export interface SignInClient {
  ip: string | null;
  userAgent: string | null;
}

export const newSignIn = (
  origin: string,
  { ip, userAgent }: SignInClient,
  nowMs: number,
): MailContent<'security'> => ({
  kind: 'security',
  subject: 'New sign-in to your account',
  paragraphs: ['Somebody signed in to your Latchkey account from a browser that it hasn’t seen before.'],
  facts: [
    ['Time', utcTime(nowMs)],
    ['Browser', describeUserAgent(userAgent)],
    ['IP address', ip ?? 'Unknown'],
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

interface WrongProofs {
  ip: string | null;
  /** The API key with which they were sent. */
  key: unknown;
}

export const wrongProofs = (
  origin: string,
  { ip, key }: WrongProofs,
  nowMs: number,
): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Wrong passwords inside your account',
  paragraphs: [
    key
      ? 'Somebody who has an API key of your Latchkey account has sent ten wrong passwords with it. Delete the key if it wasn’t you.'
      : 'Somebody who is signed in to your Latchkey account has sent ten wrong passwords or codes where calls that affect its security ask for one.',
  ],
  facts: [
    ['Time', utcTime(nowMs)],
    ['IP address', ip ?? 'Unknown'],
  ],
  link: forgotPasswordLink(origin),
  note: 'If it was you, there is nothing to do. If it wasn’t you, reset your password now: that ends every session.',
});

const isWayIn = ({ url }: { url: string }) => url.includes('#token=');

/** Says in one email what several would have said, the oldest first. */
export const severalNotices = (notices: { content: MailContent; times: number }[]): MailContent => {
  const contents = notices.map(({ content }) => content);
  const total = notices.reduce((sum, { times }) => sum + times, 0);
  const links = contents.flatMap((content) => content.link ?? []);
  // A way back into the account is in no other email. The oldest undoes the most, and the others are named.
  const link = links.find(isWayIn) ?? links[0];
  return {
    kind: 'security',
    subject: contents.length === 1 ? (contents[0]?.subject ?? '') : 'What happened in your account',
    paragraphs: [
      `So much has happened in your Latchkey account that this email replaces ${total}.`,
      ...notices.map(({ content: { subject, paragraphs, facts = [], link: own }, times }) =>
        [
          `${subject}${times > 1 ? ` (${times} times, the last shown)` : ''}.`,
          ...paragraphs,
          ...facts.map(([name, value]) => `${name}: ${value}.`),
          ...(own && own !== link && isWayIn(own) ? [`${own.label}: ${own.url}`] : []),
        ].join(' '),
      ),
    ],
    ...(link && { link }),
    note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
  };
};
