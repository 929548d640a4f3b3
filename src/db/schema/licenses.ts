import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core';
import type { Actor } from '../../shared/rules/audit.ts';
import type { ChangeableField, ColumnOf, LicenseField } from '../../shared/rules/license-fields.ts';
import { LICENSE_STATES, STORED_LICENSE_STATUSES, type Metadata } from '../../shared/rules/licenses.ts';
import type { LicenseTerms } from '../../shared/rules/terms.ts';
import { accounts } from './accounts.ts';

/** `licenses_by_status` sorts the licenses within a block of 1,024 `seq`s by expiry: see newestInState(). */
export const STATUS_BLOCK_BITS = 10;

/** `seq` is also part of the license's rowid in the search index. */
export const licenses = sqliteTable(
  'licenses',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    id: text().notNull(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    licenseKey: text('license_key').notNull(),
    status: text({ enum: STORED_LICENSE_STATUSES }).notNull(),
    product: text(),
    customerEmail: text('customer_email').notNull(),
    customerName: text('customer_name'),
    customerCompany: text('customer_company'),
    expiresAt: text('expires_at'),
    metadata: text({ mode: 'json' }).$type<Metadata>().notNull(),
    /** Overrides the terms of the license's product. */
    terms: text({ mode: 'json' }).$type<LicenseTerms>().notNull().default({}),
    updatesUntil: text('updates_until'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** The import that has created the license, by the id of its entry in the audit log. */
    importId: text('import_id'),
  },
  (table) => [
    unique('licenses_by_id').on(table.accountId, table.id),
    unique('licenses_by_key').on(table.accountId, table.licenseKey),
    index('licenses_by_status').on(
      table.accountId,
      table.status,
      sql`${table.seq} >> ${sql.raw(`${STATUS_BLOCK_BITS}`)}`,
      sql`coalesce(${table.expiresAt}, '9999-12-31')`,
    ),
    index('licenses_by_product')
      .on(table.accountId, table.product)
      .where(sql`${table.product} IS NOT NULL`),
    index('licenses_by_email').on(table.accountId, sql`lower(${table.customerEmail})`, table.seq),
    index('licenses_by_expiry')
      .on(table.accountId, table.expiresAt, table.id)
      .where(sql`${table.expiresAt} IS NOT NULL`),
  ],
);

/**
 * An account's number of licenses by status. Active ones are also counted by their last day ('' if perpetual), and only those of
 * days that were added up have the status `expired`: see src/dashboard/license-counts.ts. Triggers keep the counts up to date.
 */
export const licenseCounts = sqliteTable(
  'license_counts',
  {
    accountId: text('account_id').notNull(),
    status: text({ enum: LICENSE_STATES }).notNull(),
    expiresAt: text('expires_at').notNull(),
    licenses: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.status, table.expiresAt] })],
);

/** An account's number of licenses, whatever their status, and the bytes of all its rows. Triggers keep both up to date. */
export const licenseTotals = sqliteTable(
  'license_totals',
  {
    accountId: text('account_id').primaryKey(),
    licenses: integer().notNull(),
    /** Null until they are measured for the first time, in an account that is older than this column. */
    bytes: integer(),
    /** The bytes of the machines, which the account's gate stores and reports. */
    machineBytes: integer('machine_bytes').notNull().default(0),
    /** The limits of which the owner was told that they are nearly reached. */
    toldLicenses: integer('told_licenses'),
    toldBytes: integer('told_bytes'),
  },
  (table) => [
    index('license_totals_unmeasured')
      .on(table.licenses)
      .where(sql`${table.bytes} IS NULL`),
  ],
);

/** Numbers the accounts for the search index `license_trigrams`. A trigger numbers an account with its first license. */
export const searchAccounts = sqliteTable('search_accounts', {
  number: integer().primaryKey({ autoIncrement: true }),
  accountId: text('account_id').notNull().unique(),
});

export type LicenseRow = typeof licenses.$inferSelect;

type Same<A extends B, B> = A;
type FieldColumn = Exclude<keyof LicenseRow, 'seq' | 'accountId' | 'importId'>;
/** Compiles only if each of these columns is in LICENSE_FIELDS, and each of the fields there is a column. */
type LicenseColumn = Same<FieldColumn, ColumnOf<LicenseField>> & Same<ColumnOf<LicenseField>, FieldColumn>;
/** A license's fields, by column. */
export type LicenseValues = Pick<LicenseRow, LicenseColumn>;

/** The fields that a license's history records, with their names in the API. */
export type LicenseSnapshot = { [Field in ChangeableField]: LicenseValues[ColumnOf<Field>] };

/**
 * The fields after a change, who has made it and the reason that they have given, and the import that has made it, by the id of
 * its entry in the audit log.
 */
export type ChangedFields = Partial<LicenseSnapshot> & { by?: Actor; reason?: string; import_id?: string };

/** The history of each license: the changed fields, before and after. `seq` counts within the license. */
export const licenseChanges = sqliteTable(
  'license_changes',
  {
    accountId: text('account_id').notNull(),
    licenseId: text('license_id').notNull(),
    seq: integer().notNull(),
    at: integer().notNull(),
    before: text({ mode: 'json' }).$type<Partial<LicenseSnapshot>>().notNull(),
    after: text({ mode: 'json' }).$type<ChangedFields>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.licenseId, table.seq] })],
);

/** Up to where the events of expiring licenses have been sent, in one row: see src/licenses/expiry-events.ts. */
export const expiryPass = sqliteTable('expiry_pass', {
  id: integer().primaryKey(),
  day: text().notNull(),
  /** No account owns the row, so this isn't an `accountId`, by which the rows of an erased account are found. */
  atAccount: text('account_id').notNull(),
  step: integer().notNull(),
  licenseId: text('license_id').notNull(),
  /** The accounts before this one have their events. */
  toldThrough: text('told_through').notNull(),
});

/** What was changed with each Idempotency-Key, by its id. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    accountId: text('account_id').notNull(),
    key: text().notNull(),
    requestHash: text('request_hash').notNull(),
    targetId: text('license_id').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.key] }),
    index('idempotency_keys_by_time').on(table.createdAt),
  ],
);
