import { DAY_MS, isoTime } from '../shared/rules/dates.ts';
import { describeUserAgent } from '../shared/rules/user-agent.ts';
import { DISABLE_AFTER_MS, KEEP_MISSED_MS } from '../shared/rules/webhooks.ts';
import type { MailContent } from '../shared/text/mail-content.ts';

// The emails of the service. Their links have the token in the fragment, which browsers don't send, so no log has it.

const DISABLE_AFTER_DAYS = DISABLE_AFTER_MS / DAY_MS;
const KEEP_MISSED_DAYS = KEEP_MISSED_MS / DAY_MS;

const RESET_NOTE = 'If it wasn’t you, reset your password now: somebody else may know it.';

/** Where the dashboard takes an email's token. */
export type TokenPage = 'verify-email' | 'reset-password';

export const tokenUrl = (origin: string, page: TokenPage, token: string) =>
  `${origin}/${page}#token=${token}`;

const forgotPasswordLink = (origin: string) => ({
  label: 'Reset password',
  url: `${origin}/forgot-password`,
});

/** Formats a time for people whose time zone is unknown. */
const utcTime = (ms: number) => `${isoTime(ms).slice(0, 16).replace('T', ' ')} UTC`;

export const verifyEmail = (url: string): MailContent => ({
  kind: 'request',
  subject: 'Verify your email address',
  paragraphs: [
    'Welcome to Latchkey. Verify your email address, so that you can get back in if you forget your password.',
  ],
  link: { label: 'Verify email address', url },
  note: 'The link works for 24 hours. If you didn’t create an account, ignore this email.',
});

export const resetPassword = (url: string): MailContent => ({
  kind: 'request',
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

/** Sent to the old address after a change. */
export const emailChanged = (newEmail: string): MailContent => ({
  kind: 'notice',
  subject: 'Your email address has changed',
  paragraphs: [
    `The email address of your Latchkey account is now ${newEmail}. Sign in with it from now on. This address gets no more emails.`,
  ],
  note: 'If it wasn’t you, contact the operator of the service.',
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
      ? 'Your Latchkey account now asks for a code from your authenticator app at each sign-in. Keep the recovery codes in a safe place.'
      : 'Your Latchkey account no longer asks for a code at sign-in. The password alone is enough.',
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

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
  const link = contents.find((content) => content.link)?.link;
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
