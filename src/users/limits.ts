import type { Actor } from '../shared/rules/audit.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { type AccountPlan, CHANGES_WHEN_FULL } from '../shared/rules/plans.ts';
import { BUYER_MAILS_PER_DAY } from '../shared/rules/stores.ts';

// How often people may try what a stranger could try in their name.

export type AttemptOutcome = 'success' | 'failure' | 'error';

export interface Limit {
  /** For example `login-email`. */
  name: string;
  /** Whose attempts are counted: an IP address, an email address, a browser, or a session. */
  subject: string;
  /** The attempts that count: all of them, or only those with this outcome. */
  counts: 'all' | AttemptOutcome;
  attempts: number;
  windowMs: number;
  /** The owner is told each time that so many attempts count. */
  tellEach?: number;
}

const LOGIN_WINDOW_MS = 900_000;
const MINUTE_MS = 60_000;

const failures = (name: string, subject: string, attempts = 10): Limit => ({
  name,
  subject,
  counts: 'failure',
  attempts,
  windowMs: LOGIN_WINDOW_MS,
});

const successes = (name: string, subject: string): Limit => ({
  name,
  subject,
  counts: 'success',
  attempts: 60,
  windowMs: HOUR_MS,
});

const hourly = (name: string, subject: string, attempts = 60): Limit => ({
  name,
  subject,
  counts: 'all',
  attempts,
  windowMs: HOUR_MS,
});

export const registerLimits = (ip: string): Limit[] => [hourly('register-ip', ip)];

/** For strangers: browsers that have not signed in to the account before. */
export const loginLimits = (ip: string, email: string): Limit[] => [
  failures('login-email', email),
  failures('login-ip', ip, 100),
  successes('login-success-email', email),
];

/** For a browser that the account knows, which strangers can't lock out. */
export const browserLimits = (accountId: string, browserHash: string): Limit[] => [
  failures('login-browser', `${accountId} ${browserHash}`),
  successes('login-success-browser', `${accountId} ${browserHash}`),
];

/**
 * For the second step of somebody whom the account's browsers don't know: a code after the password, or the password beside an
 * email's token. Nobody gets that far with the address alone, and whoever knew an earlier password no longer does.
 */
export const secondStepLimits = (
  step: 'code' | 'token',
  ip: string,
  { accountId, passwordChangedAt }: { accountId: string; passwordChangedAt: number | null },
): Limit[] => [
  failures(`login-${step}`, `${accountId} ${passwordChangedAt}`),
  failures('login-ip', ip, 100),
  // A right password may still change nothing, so it is limited, too. Before a code, it already counts as a sign-in.
  ...(step === 'token' ? [successes('login-success-token', accountId)] : []),
];

/** The guesses inside an account that its owner is told of. Nobody sends so many who knows the password. */
export const TOLD_GUESSES = 10;

/**
 * For whoever is signed in and proves it again. A code has six digits, so a stolen session gets few tries a day. Each session has
 * its own, so nobody else can lock it out. API keys share theirs, because an account can make any number of them.
 */
export const confirmLimits = (accountId: string, { kind, id }: Actor): Limit[] => {
  const subject = `${accountId} ${kind === 'session' ? id : kind}`;
  return [
    { ...failures('confirm', subject, TOLD_GUESSES), tellEach: TOLD_GUESSES },
    { ...failures('confirm-day', subject, 30), windowMs: DAY_MS },
    successes('confirm-success', subject),
  ];
};

/** The wrong codes that the owner is told of: whoever sends them knows the password. */
export const TOLD_CODES = 5;

/**
 * Counts an account's wrong codes behind a right password, of a day, and refuses none of them. The count outlives the
 * challenges, so that somebody who is slow is noticed, too.
 */
export const wrongCodeCount = (accountId: string): Limit => ({
  name: 'wrong-codes',
  subject: accountId,
  counts: 'failure',
  attempts: 1_000_000,
  windowMs: DAY_MS,
  tellEach: TOLD_CODES,
});

export const operatorLimits = (ip: string): Limit[] => [
  { name: 'operator-ip', subject: ip, counts: 'all', attempts: 10, windowMs: LOGIN_WINDOW_MS },
];

const emailsADay = (name: string, subject: string, attempts: number): Limit => ({
  name,
  subject,
  counts: 'all',
  attempts,
  windowMs: DAY_MS,
});

/** The emails of all kinds that an address gets, whichever account causes them. */
export const recipientLimits = (email: string): Limit[] => [
  hourly('mail-to', email, 5),
  emailsADay('mail-to-day', email, 15),
];

/** The emails that an account causes before it has proven an address: a tenth of what an address gets in a day. */
export const unverifiedLimits = (accountId: string): Limit => emailsADay('mail-unverified', accountId, 2);

/**
 * The links by which an address gets into its account. Anybody can ask for them, and for other emails until the address gets
 * no more, so the first link of each hour is always sent.
 */
export const wayInLimit = (email: string, about: string): Limit =>
  hourly('mail-way-in', `${about}\n${email}`, 1);

/** `kind` is what the emails are about, and `accountId` asks for them. */
export const mailLimits = (kind: 'verify' | 'change' | 'test', accountId: string): Limit[] => [
  hourly(`mail-${kind}`, accountId, 5),
];

/** Each erasure of a customer looks through the whole history of the account. */
export const erasureLimits = (accountId: string): Limit[] => [
  { name: 'erase-customer', subject: accountId, counts: 'all', attempts: 10, windowMs: MINUTE_MS },
];

/** The payment provider allows the service about 100 calls a second, for all of its accounts together. */
export const providerLimits = (accountId: string): Limit[] => [hourly('payment-provider', accountId, 30)];

/** The emails with bought keys that an account sends in a day. */
export const buyerMailLimits = (accountId: string, plan: AccountPlan): Limit =>
  emailsADay('mail-buyers', accountId, BUYER_MAILS_PER_DAY[plan]);

/** The notifications that an account's stores send while it stores as much as it may. Each adds a row, and perhaps a purchase. */
export const fullStoreLimits = (accountId: string, changesPerDay: number): Limit => ({
  name: 'stores-when-full',
  subject: accountId,
  counts: 'all',
  attempts: Math.floor(changesPerDay / CHANGES_WHEN_FULL),
  windowMs: DAY_MS,
});

export const forgotPasswordLimits = (ip: string): Limit[] => [hourly('forgot-ip', ip)];

export const resetPasswordLimits = (ip: string): Limit[] => [hourly('reset-ip', ip)];

export const portalSettingsLimits = (accountId: string): Limit[] => [hourly('portal-settings', accountId)];

/** What a stranger can have sent to an address in any seller's portal. More would say the same again. */
export const portalMailLimits = (email: string): Limit[] => [hourly('portal-mail', email, 3)];

/** The emails that an address of the network asks for, known or not. */
export const portalSignInLimits = (ip: string): Limit[] => [hourly('portal-sign-in-ip', ip)];

/** Codes for license keys, which somebody who knows neither would guess. The link by email is no guess, so nobody is locked out. */
export const portalCodeLimits = (ip: string, licenseKey: string): Limit[] => [
  failures('portal-code-ip', ip, 20),
  { ...failures('portal-code-key', licenseKey, 30), windowMs: DAY_MS },
];

/** What a customer changes of a license by themselves. */
export const portalChangeLimits = (change: 'rotate' | 'file' | 'release', licenseId: string): Limit[] => [
  {
    name: `portal-${change}`,
    subject: licenseId,
    counts: 'all',
    attempts: change === 'rotate' ? 5 : 20,
    windowMs: DAY_MS,
  },
];

/** Emails that customers who are signed in ask for, apart from those of strangers. */
const customersMails = (name: string, subject: string): Limit[] => [
  hourly(name, subject, 3),
  emailsADay(`${name}-day`, subject, 10),
];

/** The emails with their keys that a customer asks for. */
export const portalKeysLimits = (accountId: string, email: string): Limit[] =>
  customersMails('portal-keys', `${accountId} ${email}`);

/** The changes of address that a customer asks for. Each mails two addresses, and the new one may be anybody's. */
export const portalAddressLimits = (accountId: string, email: string, newEmail: string): Limit[] => [
  ...customersMails('portal-change-email', `${accountId} ${email}`),
  ...customersMails('portal-change-to', newEmail),
];

/** Each asks the seller's store, which allows so many calls for all of its customers. */
export const portalLinkLimits = (licenseId: string): Limit[] => [hourly('portal-store-link', licenseId, 10)];
