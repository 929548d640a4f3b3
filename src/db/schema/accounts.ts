import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { MailTopic } from '../../shared/rules/mail-topics.ts';
import { PAID_PLANS, PLAN_NAMES } from '../../shared/rules/plans.ts';
import { REGIONS } from '../../shared/rules/regions.ts';
import type { MailContent } from '../../shared/text/mail-content.ts';

/** What a token that the service has sent to a user is for. */
export const TOKEN_PURPOSES = [
  'verify_email',
  'change_email',
  'restore_email',
  'reset_password',
  'operator_email',
  'two_factor',
] as const;

export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    /** A copy of the user's email address, which the account's own work needs. */
    email: text().notNull(),
    name: text(),
    plan: text({ enum: PLAN_NAMES }).notNull().default('free'),
    periodStart: integer('period_start'),
    periodEnd: integer('period_end'),
    planUntil: integer('plan_until'),
    /** A plan that the operator has granted without payment, and its end, if it has one. */
    grantedPlan: text('granted_plan', { enum: PAID_PLANS }),
    grantedUntil: integer('granted_until'),
    /** When the operator suspended the account. */
    suspendedAt: integer('suspended_at'),
    /** When everything of the account is erased. Null unless its holder has asked for that. */
    eraseAt: integer('erase_at'),
    /** When the account is erased if it has no user by then. Null once its user was committed. */
    userDueAt: integer('user_due_at'),
    /** The payment provider's id of this customer. */
    customerRef: text('customer_ref'),
    /** Origins, besides this service, that a checkout may send the browser back to. */
    allowedOrigins: text('allowed_origins', { mode: 'json' }).$type<string[]>().notNull().default([]),
    /** What the owner wants no emails about. */
    mutedEmails: text('muted_emails', { mode: 'json' }).$type<MailTopic[]>().notNull().default([]),
    /** Where the account's Durable Objects were placed. Null if that was left to the first caller. */
    homeRegion: text('home_region', { enum: REGIONS }),
    /** The `copyVersion` of the user whose email address, and proof of one, this row has a copy of. */
    userVersion: integer('user_version').notNull().default(0),
    /** Whether the account still awaits its first proof of an email address. A copy of what its user knows. */
    isUnverified: integer('is_unverified', { mode: 'boolean' }).notNull().default(false),
    /** When its owner was told that it is erased soon, unless they prove an email address. */
    unverifiedToldAt: integer('unverified_told_at'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('accounts_unverified')
      .on(table.unverifiedToldAt, table.createdAt)
      .where(sql`${table.isUnverified} = 1`),
    index('accounts_by_plan_end')
      .on(table.planUntil)
      .where(sql`${table.planUntil} IS NOT NULL`),
    index('accounts_to_erase')
      .on(table.eraseAt)
      .where(sql`${table.eraseAt} IS NOT NULL`),
    index('accounts_without_user')
      .on(table.userDueAt)
      .where(sql`${table.userDueAt} IS NOT NULL`),
  ],
);

/** Who can sign in. Users are in the first database, wherever their account is. */
export const users = sqliteTable(
  'users',
  {
    accountId: text('account_id').primaryKey(),
    email: text().notNull().unique(),
    passwordHash: text('password_hash').notNull(),
    emailVerifiedAt: integer('email_verified_at'),
    /** Null for the password that the user has registered with. */
    passwordChangedAt: integer('password_changed_at'),
    /** The secret of the user's authenticator app, sealed. It is pending until it is enabled. */
    twoFactorSecret: text('two_factor_secret'),
    twoFactorEnabledAt: integer('two_factor_enabled_at'),
    /** The time step of the last code. Codes of it, and of earlier steps, don't work anymore. */
    twoFactorLastStep: integer('two_factor_last_step'),
    /** When two-factor authentication goes off, because the operator was asked for it, unless a code is used before. */
    twoFactorResetAt: integer('two_factor_reset_at'),
    /** Grows with each change that the account copies. */
    copyVersion: integer('copy_version').notNull().default(0),
    /** Since when the account's copy is to be renewed. Null if it is not. */
    copyDueAt: integer('copy_due_at'),
  },
  (table) => [
    index('users_to_copy')
      .on(table.copyDueAt)
      .where(sql`${table.copyDueAt} IS NOT NULL`),
    // Sealed secrets begin with the name of their sealing key.
    index('users_by_sealing_key')
      .on(table.twoFactorSecret)
      .where(sql`${table.twoFactorSecret} IS NOT NULL`),
  ],
);

export const sessions = sqliteTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => users.accountId),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    id: text().notNull(),
    /** Of the last call, as of an hour ago at most. */
    lastSeenAt: integer('last_seen_at').notNull(),
    ip: text(),
    userAgent: text('user_agent'),
    /** When its holder last proved again who they are. Null if that was when it began. */
    provedAt: integer('proved_at'),
  },
  (table) => [
    index('sessions_by_expiry').on(table.expiresAt),
    index('sessions_by_account').on(table.accountId, table.createdAt),
  ],
);

/** Tokens that the service has sent to a user. Only their hashes are stored. */
export const userTokens = sqliteTable(
  'user_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    accountId: text('account_id').notNull(),
    purpose: text({ enum: TOKEN_PURPOSES }).notNull(),
    /** The address that the token was sent to, and which it confirms or restores. Empty for a two-factor challenge. */
    email: text().notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** Wrong codes that were sent with a two-factor challenge. */
    tries: integer().notNull().default(0),
  },
  (table) => [
    index('user_tokens_by_account').on(table.accountId),
    index('user_tokens_by_expiry').on(table.expiresAt),
    index('user_tokens_by_restored_email')
      .on(table.email)
      .where(sql`${table.purpose} = 'restore_email'`),
  ],
);

/** Links with which the operator lets somebody create an account. Using one deletes it. */
export const invitations = sqliteTable(
  'invitations',
  {
    id: text().primaryKey(),
    tokenHash: text('token_hash').notNull().unique(),
    /** The only address that can register with it. Null if any can. */
    email: text(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('invitations_by_expiry').on(table.expiresAt)],
);

/** Browsers that have signed in to an account, by the hash of a cookie. A table without rowids, as audit_log is. */
export const knownBrowsers = sqliteTable(
  'known_browsers',
  {
    accountId: text('account_id').notNull(),
    browserHash: text('browser_hash').notNull(),
    seenAt: integer('seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.browserHash] })],
);

/** Unused codes for users who have lost their authenticator app. A table without rowids, as audit_log is. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    accountId: text('account_id').notNull(),
    codeHash: text('code_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.codeHash] })],
);

/** Attempts per fixed window. `bucket` is a hash of the limit's name and its subject, for example an email address. */
export const throttles = sqliteTable(
  'throttles',
  {
    bucket: text().primaryKey(),
    attempts: integer().notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** Attempts under way. They take up room until it is known whether they count. */
    pending: integer().notNull().default(0),
    /** When the pending attempts count as dead. */
    pendingUntil: integer('pending_until').notNull().default(0),
  },
  (table) => [index('throttles_by_expiry').on(table.expiresAt)],
);

/**
 * Emails of what has happened to an account that are not sent yet: see `src/mail/held.ts`. Those of one recipient become one
 * email. In the database of the change that they tell.
 */
export const heldNotices = sqliteTable(
  'held_notices',
  {
    email: text().notNull(),
    /** With something random after it, unless notices of the subject are merged. */
    subject: text().notNull(),
    accountId: text('account_id').notNull(),
    /** What the last email of this subject was to say. */
    content: text({ mode: 'json' }).$type<MailContent>().notNull(),
    times: integer().notNull().default(1),
    dueAt: integer('due_at').notNull(),
    /** Null until it could not be sent. */
    giveUpAt: integer('give_up_at'),
  },
  (table) => [
    primaryKey({ columns: [table.email, table.subject] }),
    index('held_notices_by_time').on(table.dueAt),
    index('held_notices_to_give_up')
      .on(table.giveUpAt)
      .where(sql`${table.giveUpAt} IS NOT NULL`),
  ],
);

export type HeldNoticeRow = typeof heldNotices.$inferSelect;
export type UserRow = typeof users.$inferSelect;
export type AccountRow = typeof accounts.$inferSelect;
