// All tables, one file per domain. Timestamps are in milliseconds since 1970, dates are YYYY-MM-DD. No foreign key
// cascades deletes, because rebuilding a table on D1 would then delete the rows that reference it.

export * from './schema/accounts.ts';
export * from './schema/api-keys.ts';
export * from './schema/audit.ts';
export * from './schema/billing.ts';
export * from './schema/erasures.ts';
export * from './schema/feed.ts';
export * from './schema/identity.ts';
export * from './schema/licenses.ts';
export * from './schema/portal.ts';
export * from './schema/products.ts';
export * from './schema/purchases.ts';
export * from './schema/stores.ts';
