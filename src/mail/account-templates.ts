import { DAY_MS } from '../shared/rules/dates.ts';
import { DISABLE_AFTER_MS, KEEP_MISSED_MS } from '../shared/rules/webhooks.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import { utcTime } from './templates.ts';

// The emails about an account's end, its plan and limits, and its webhooks.

const DISABLE_AFTER_DAYS = DISABLE_AFTER_MS / DAY_MS;
const KEEP_MISSED_DAYS = KEEP_MISSED_MS / DAY_MS;

/** Sent two days before an account is erased whose address nobody has proved. */
export const unverifiedEnding = (origin: string | null, erasedAtMs: number): MailContent<'notice'> => ({
  kind: 'notice',
  subject: 'Your account will be deleted unless you verify your email address',
  paragraphs: [
    `Nobody has verified yet that this email address belongs to your Latchkey account. Unless you do, the account and all of its data will be deleted after ${utcTime(erasedAtMs)}.`,
    'Sign in, and send the verification email again from the settings.',
  ],
  ...(origin !== null && { link: { label: 'Open the settings', url: `${origin}/settings` } }),
  note: 'If you didn’t create an account, ignore this email.',
});

export const erasureRequested = (origin: string, erasedByMs: number): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Your account will be deleted',
  paragraphs: [
    `You asked to delete your Latchkey account. Its API keys no longer work, and its subscription is canceled. All of its data will be gone by ${utcTime(erasedByMs)}.`,
    'Until then, you can keep the account by signing in. The subscription stays canceled.',
  ],
  link: { label: 'Sign in and keep the account', url: `${origin}/login` },
  note: 'If it wasn’t you, sign in and change your password.',
});

export const accountErased = (): MailContent<'request'> => ({
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
  125: 'All calls that count are refused, including those from your customers’ machines.',
};

/** How much of the account's usage limit its calls have reached. */
export const usageReached = (percent: number, apiUsage: number, apiLimit: number): MailContent<'notice'> => ({
  kind: 'notice',
  subject: `Your account has used ${percent}% of its API calls`,
  paragraphs: [
    `Your Latchkey account has used ${apiUsage.toLocaleString('en')} of its ${apiLimit.toLocaleString('en')} API calls in this period.`,
    WHAT_FOLLOWS[percent] ?? '',
  ],
  note: 'The dashboard shows when the period ends. Then, or once the limit is raised, all calls are answered again.',
});

/** Says what is refused before it is. */
export const limitNear = (
  what: 'licenses' | 'storage',
  used: number,
  limit: number,
): MailContent<'notice'> => {
  const amount = (count: number) =>
    what === 'licenses' ? count.toLocaleString('en') : `${(count / 1_000_000).toLocaleString('en')} MB`;
  const percent = Math.floor((used / limit) * 100);
  return {
    kind: 'notice',
    subject:
      what === 'licenses'
        ? `Your account is at ${percent}% of its license limit`
        : `Your account is at ${percent}% of its storage limit`,
    paragraphs: [
      what === 'licenses'
        ? `Your Latchkey account has ${amount(used)} of the ${amount(limit)} licenses that it may have. Once the limit is reached, no license can be created or imported. The licenses that exist keep working as before.`
        : `Your Latchkey account stores ${amount(used)} of the ${amount(limit)} that it may store. Once the limit is reached, nothing that takes more space can be stored: licenses, products, API keys, and seats of new machines. What exists keeps working as before.`,
    ],
    note: 'Delete what isn’t needed, or get a higher limit.',
  };
};

/** A declined card takes nothing down at once, so that there is time to act. */
export const paymentFailed = (plan: string, endsAt: string): MailContent<'notice'> => ({
  kind: 'notice',
  subject: 'A payment for your Latchkey account failed',
  paragraphs: [
    `The payment for the ${plan} plan of your Latchkey account failed. The plan’s limits apply until ${utcTime(Date.parse(endsAt))}. After that the limits of the free plan apply, and your customers’ machines may be refused.`,
    'To keep the plan, pay the invoice or update your card. The billing page of the dashboard has links for both.',
  ],
  note: 'Once the payment succeeds, everything continues as before.',
});

/** Before a plan falls, so that nobody is surprised by refused machines. */
export const planEnding = (plan: string, endsAt: string, isUnpaid: boolean): MailContent<'notice'> => ({
  kind: 'notice',
  subject: `The ${plan} plan of your Latchkey account is about to end`,
  paragraphs: [
    `The ${plan} plan of your Latchkey account ends on ${utcTime(Date.parse(endsAt))}${isUnpaid ? ', because its last payment failed' : ', because it was canceled'}. After that the limits of the free plan apply, and your customers’ machines may be refused.`,
    isUnpaid
      ? 'To keep the plan, pay the invoice or update your card. The billing page of the dashboard has links for both.'
      : 'To keep the plan, resume the subscription on the billing page of the dashboard.',
  ],
  note: 'If you want the plan to end, there is nothing to do.',
});

/** A webhook that the service has disabled, because it answered 410 twice or failed for days. */
export const webhookDisabled = (host: string, isGone: boolean): MailContent<'notice'> => ({
  kind: 'notice',
  subject: `Your webhook at ${host} is disabled`,
  paragraphs: [
    isGone
      ? `Your webhook at ${host} answered 410 Gone twice, which means that it wants no more events. It gets none until you enable it.`
      : `No delivery to your webhook at ${host} has succeeded for ${DISABLE_AFTER_DAYS} days. It gets no events until you enable it.`,
    `What happens in the meantime is kept for ${KEEP_MISSED_DAYS} days. Once you have enabled the webhook in the dashboard, you can send what it missed.`,
  ],
  note: 'If nobody uses the webhook anymore, delete it.',
});
