// Every table, one file per domain. Timestamps are milliseconds since 1970, dates are YYYY-MM-DD. There are no
// cascading deletes: rebuilding a table on D1 would silently delete the rows behind them.

export * from './schema/accounts.ts';
export * from './schema/api-keys.ts';
export * from './schema/billing.ts';
export * from './schema/feed.ts';
export * from './schema/licenses.ts';
