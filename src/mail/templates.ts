import { DAY_MS, isoTime } from '../shared/rules/dates.ts';
import { describeUserAgent } from '../shared/rules/user-agent.ts';
import { DISABLE_AFTER_MS, KEEP_MISSED_MS } from '../shared/rules/webhooks.ts';
import type { MailContent } from '../shared/text/mail-content.ts';

// The emails of the service. Their links have the token in the fragment, which browsers don't send, so no log has it.

const DISABLE_AFTER_DAYS = DISABLE_AFTER_MS / DAY_MS;
const KEEP_MISSED_DAYS = KEEP_MISSED_MS / DAY_MS;

const RESET_NOTE = 'If it wasn’t you, reset your password now: somebody else may know it.';

/** Where the dashboard takes an email's token. */
export type TokenPage = 'verify-email' | 'reset-password' | 'restore-email';

export const tokenUrl = (origin: string, page: TokenPage, token: string) =>
  `${origin}/${page}#token=${token}`;

const forgotPasswordLink = (origin: string) => ({
  label: 'Reset password',
  url: `${origin}/forgot-password`,
});

/** Formats a time for people whose time zone is unknown. */
const utcTime = (ms: number) => `${isoTime(ms).slice(0, 16).replace('T', ' ')} UTC`;

export const verifyEmail = (url: string): MailContent => ({
  kind: 'way_in',
  subject: 'Verify your email address',
  paragraphs: [
    'Welcome to Latchkey. Verify your email address, so that you can get back in if you forget your password.',
  ],
  link: { label: 'Verify email address', url },
  note: 'The link works for 24 hours. If you didn’t create an account, ignore this email.',
});

/** Sent two days before an account is erased whose address nobody has proved. */
export const unverifiedEnding = (origin: string | null, erasedAtMs: number): MailContent => ({
  kind: 'notice',
  subject: 'Your account will be deleted unless you verify your email address',
  paragraphs: [
    `Nobody has verified yet that this email address belongs to your Latchkey account. Unless you do, the account and all of its data are deleted after ${utcTime(erasedAtMs)}.`,
    'Sign in, and send the verification email again in the settings.',
  ],
  ...(origin !== null && { link: { label: 'Open the settings', url: `${origin}/settings` } }),
  note: 'If you didn’t create an account, ignore this email.',
});

export const resetPassword = (url: string): MailContent => ({
  kind: 'way_in',
  subject: 'Reset your password',
  paragraphs: [
    'Somebody asked to reset the password of your Latchkey account. If it was you, choose a new one.',
  ],
  link: { label: 'Choose a new password', url },
  note: 'The link works once, for an hour. If it wasn’t you, ignore this email: your password stays the same.',
});

export const confirmEmail = (url: string): MailContent => ({
  kind: 'request',
  subject: 'Confirm your new email address',
  paragraphs: [
    'Somebody asked to use this email address for their Latchkey account. If it was you, confirm it.',
  ],
  link: { label: 'Confirm email address', url },
  note: 'The link works for 24 hours. If it wasn’t you, ignore this email: nothing changes.',
});

/** Sent to the old address when a change is requested. */
export const emailChangeRequested = (origin: string, newEmail: string): MailContent => ({
  kind: 'notice',
  subject: 'Your email address is about to change',
  paragraphs: [
    `Somebody who is signed in to your Latchkey account asked to change its email address to ${newEmail}. It changes once the new address is confirmed.`,
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE} That also cancels the change.`,
});

/** Sent to the old address after a change, with a way back if it was ever proved. */
export const emailChanged = (newEmail: string, restoreUrl: string | null): MailContent => ({
  kind: 'notice',
  subject: 'Your email address has changed',
  paragraphs: [
    `The email address of your Latchkey account is now ${newEmail}. Sign in with it from now on. This address gets no more emails.`,
  ],
  ...(restoreUrl !== null && { link: { label: 'Take this address back', url: restoreUrl } }),
  note:
    restoreUrl === null
      ? 'If it wasn’t you, contact the operator of the service.'
      : 'If it was you, there is nothing to do. If it wasn’t you, take the address back: all sessions end, and the password stops working. The link works once, for seven days.',
});

/** Sent to an address that was taken back. */
export const emailRestored = (resetUrl: string): MailContent => ({
  kind: 'notice',
  subject: 'Your email address is your account’s again',
  paragraphs: [
    'Your Latchkey account has this email address again. All sessions and pending changes have ended, and the password no longer works, because somebody else may know it. Choose a new one.',
    'Then look through the API keys and webhooks: whoever changed the address may have added some.',
  ],
  link: { label: 'Choose a new password', url: resetUrl },
  note: 'The link works once, for an hour. After that, ask for another one on the sign-in page.',
});

/** Sent to an address from which an account was taken back. */
export const emailTakenBack = (email: string): MailContent => ({
  kind: 'notice',
  subject: 'Your email address has changed back',
  paragraphs: [
    `The email address of your Latchkey account is ${email} again: somebody has used the link that it got when the address changed. All sessions have ended, and the password no longer works.`,
  ],
  note: 'If the account is yours and this wasn’t you, contact the operator of the service.',
});

/** Sent when the operator was asked to turn two-factor authentication off. */
export const twoFactorResetRequested = (origin: string, resetAtMs: number): MailContent => ({
  kind: 'notice',
  subject: 'Two-factor authentication is about to go off',
  paragraphs: [
    `The operator of the service was asked to turn off two-factor authentication of your Latchkey account. From ${utcTime(resetAtMs)} on, the password alone is enough to sign in.`,
    'To keep two-factor authentication on, sign in with a code before then.',
  ],
  link: { label: 'Sign in', url: `${origin}/login` },
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export const passwordChanged = (origin: string): MailContent => ({
  kind: 'notice',
  subject: 'Your password has changed',
  paragraphs: ['The password of your Latchkey account has changed. All other sessions have ended.'],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

/** Sent after the first proof of an address by a reset of the password. */
export const addressClaimed = (origin: string): MailContent => ({
  kind: 'notice',
  subject: 'The account of your email address is yours',
  paragraphs: [
    'The password of your Latchkey account has changed. Nobody had proved before that its email address is theirs, so the account starts clean: API keys, webhooks, sessions, two-factor authentication, and pending changes of before have ended.',
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export interface SignInClient {
  ip: string | null;
  userAgent: string | null;
}

export const newSignIn = (origin: string, { ip, userAgent }: SignInClient, nowMs: number): MailContent => ({
  kind: 'notice',
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

export const twoFactorChanged = (origin: string, isEnabled: boolean): MailContent => ({
  kind: 'notice',
  subject: isEnabled ? 'Two-factor authentication is on' : 'Two-factor authentication is off',
  paragraphs: [
    isEnabled
      ? 'Your Latchkey account now asks for a code from your authenticator app at each sign-in, and all other sessions have ended. Keep the recovery codes in a safe place.'
      : 'Your Latchkey account no longer asks for a code at sign-in. The password alone is enough.',
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

interface WrongProofs {
  ip: string | null;
  /** The API key with which they were sent. */
  key: unknown;
}

export const wrongCodes = (origin: string, ip: string | null, nowMs: number): MailContent => ({
  kind: 'notice',
  subject: 'Wrong codes after your password',
  paragraphs: [
    'Somebody who knows the password of your Latchkey account has sent five wrong codes at sign-in. Two-factor authentication has kept them out.',
  ],
  facts: [
    ['Time', utcTime(nowMs)],
    ['IP address', ip ?? 'Unknown'],
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export const wrongProofs = (origin: string, { ip, key }: WrongProofs, nowMs: number): MailContent => ({
  kind: 'notice',
  subject: 'Wrong passwords inside your account',
  paragraphs: [
    key
      ? 'Somebody who has an API key of your Latchkey account has sent ten wrong passwords with it. Delete the key if it wasn’t you.'
      : 'Somebody who is signed in to your Latchkey account has sent ten wrong passwords or codes, which calls that concern its safety ask for.',
  ],
  facts: [
    ['Time', utcTime(nowMs)],
    ['IP address', ip ?? 'Unknown'],
  ],
  link: forgotPasswordLink(origin),
  note: 'If it was you, there is nothing to do. If it wasn’t you, reset your password now: that ends every session.',
});

export const erasureRequested = (origin: string, erasedByMs: number): MailContent => ({
  kind: 'notice',
  subject: 'Your account will be deleted',
  paragraphs: [
    `You asked to delete your Latchkey account. Its API keys no longer work, and its subscription is canceled. All of its data will be gone by ${utcTime(erasedByMs)}.`,
    'Until then, you can keep the account by signing in. The subscription stays canceled.',
  ],
  link: { label: 'Sign in and keep the account', url: `${origin}/login` },
  note: 'If it wasn’t you, sign in and change your password.',
});

export const accountErased = (): MailContent => ({
  kind: 'request',
  subject: 'Your account has been deleted',
  paragraphs: [
    'Your Latchkey account and all of its data have been deleted. This is the last email about it.',
  ],
  note: 'Nothing is left to restore. You can create a new account with the same email address.',
});

const WHAT_FOLLOWS: Record<number, string> = {
  80: 'Once the limit is reached, new customers are refused: only machines that hold a seat, or held one within the last 30 days, are answered beyond it.',
  100: 'Machines that hold a seat, or held one within the last 30 days, are still answered, up to 125% of the limit. All other calls that count are refused.',
  125: 'All calls that count are refused, also those of your customers’ machines.',
};

/** How much of the account's usage limit its calls have reached. */
export const usageReached = (percent: number, apiUsage: number, apiLimit: number): MailContent => ({
  kind: 'notice',
  subject: `Your account has used ${percent}% of its API calls`,
  paragraphs: [
    `Your Latchkey account has used ${apiUsage.toLocaleString('en')} of its ${apiLimit.toLocaleString('en')} API calls in this period.`,
    WHAT_FOLLOWS[percent] ?? '',
  ],
  note: 'The dashboard shows when the period ends. Then, or once the limit is raised, all calls are answered again.',
});

/** Says what is refused before it is. */
export const limitNear = (what: 'licenses' | 'storage', used: number, limit: number): MailContent => {
  const amount = (count: number) =>
    what === 'licenses' ? count.toLocaleString('en') : `${(count / 1_000_000).toLocaleString('en')} MB`;
  const percent = Math.floor((used / limit) * 100);
  return {
    kind: 'notice',
    subject:
      what === 'licenses'
        ? `Your account has ${percent}% of the licenses that it may have`
        : `Your account stores ${percent}% of what it may store`,
    paragraphs: [
      what === 'licenses'
        ? `Your Latchkey account has ${amount(used)} licenses of the ${amount(limit)} that it may have. Once the limit is reached, no license can be created or imported. The licenses that exist go on as before.`
        : `Your Latchkey account stores ${amount(used)} of the ${amount(limit)} that it may store. Once the limit is reached, nothing that takes more space can be stored: licenses, products, API keys, and seats of new machines. What exists goes on as before.`,
    ],
    note: 'Delete what isn’t needed, or get a higher limit.',
  };
};

/** A declined card takes nothing down at once, so that there is time to act. */
export const paymentFailed = (plan: string, endsAt: string): MailContent => ({
  kind: 'notice',
  subject: 'A payment for your Latchkey account failed',
  paragraphs: [
    `The payment for the ${plan} plan of your Latchkey account failed. The plan’s limits apply until ${utcTime(Date.parse(endsAt))}. After that the limits of the free plan apply, and your customers’ machines may be refused.`,
    'To keep the plan, pay the invoice or update your card. The payment provider has sent you a link, and the billing page of the dashboard shows the plan.',
  ],
  note: 'Once the payment succeeds, everything goes on as before.',
});

/** Before a plan falls, so that nobody is surprised by refused machines. */
export const planEnding = (plan: string, endsAt: string, isUnpaid: boolean): MailContent => ({
  kind: 'notice',
  subject: `The ${plan} plan of your Latchkey account is about to end`,
  paragraphs: [
    `The ${plan} plan of your Latchkey account ends on ${utcTime(Date.parse(endsAt))}${isUnpaid ? ', because its last payment failed' : ', because it was canceled'}. After that the limits of the free plan apply, and your customers’ machines may be refused.`,
    isUnpaid
      ? 'To keep the plan, pay the invoice or update your card. The billing page of the dashboard leads to both.'
      : 'To keep the plan, resume the subscription on the billing page of the dashboard.',
  ],
  note: 'If you want the plan to end, there is nothing to do.',
});

/** A webhook that the service has disabled, because it answered 410 twice or failed for days. */
export const webhookDisabled = (host: string, isGone: boolean): MailContent => ({
  kind: 'notice',
  subject: `Your webhook at ${host} is disabled`,
  paragraphs: [
    isGone
      ? `Your webhook at ${host} answered 410 Gone twice, which means that it wants no more events. It gets none until you enable it.`
      : `No delivery to your webhook at ${host} has succeeded for ${DISABLE_AFTER_DAYS} days. It gets no events until you enable it.`,
    `What happens meanwhile is kept for ${KEEP_MISSED_DAYS} days. Once you have enabled the webhook in the dashboard, you can send what it has missed.`,
  ],
  note: 'If nobody uses the webhook anymore, delete it.',
});

/** Says in one email what several would have said. */
export const severalNotices = (notices: { content: MailContent; times: number }[]): MailContent => {
  const contents = notices.map(({ content }) => content);
  const total = notices.reduce((sum, { times }) => sum + times, 0);
  const links = contents.flatMap((content) => content.link ?? []);
  // A way back into the account is in no other email.
  const link = links.find(({ url }) => url.includes('#token=')) ?? links[0];
  return {
    kind: 'notice',
    subject: contents.length === 1 ? (contents[0]?.subject ?? '') : 'What happened in your account',
    paragraphs: [
      `So much has happened in your Latchkey account that this email replaces ${total}.`,
      ...notices.map(({ content: { subject, paragraphs, facts = [] }, times }) =>
        [
          `${subject}${times > 1 ? ` (${times} times, here the last)` : ''}.`,
          ...paragraphs,
          ...facts.map(([name, value]) => `${name}: ${value}.`),
        ].join(' '),
      ),
    ],
    ...(link && { link }),
    note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
  };
};
