import { HOUR_MS } from './dates.ts';

// How often something may be done, beside what plans limit (plans.ts) and what people may try (users/limits.ts). The table in
// docs/limits.md has all of them, and a test compares it with these values.

const MINUTE_MS = 60_000;

/** All sessions of an account together. Bursts are five seconds' worth: a page of the dashboard makes several calls at once. */
export const SESSION_PACE = { callsPerSecond: 50, windowMs: 5_000 };

/** Calls for licenses that don't exist, which count nothing. */
export const UNKNOWN_LICENSES_PACE = { ofAddress: 60, inAll: 600, windowMs: MINUTE_MS };

/** The licenses that an account's lists compare beyond those of a page, because few match. D1 reads several rows for each. */
export const SEARCH_PACE = { licensesPerSecond: 2_000, windowMs: 30_000 };

/** What each address may call of what is open to anybody, in each isolate. */
export const VISITOR_PACE = { callsPerSecond: 20 };

/** The checkouts that an account starts. */
export const CHECKOUT_PACE = { checkouts: 10, windowMs: HOUR_MS };

/** What a call of the account's rate limit pays for. An import writes, an export only reads. */
export const IMPORT_PACE = { lines: 100, length: 25_000 };
export const EXPORT_PACE = { lines: 400, length: 100_000 };
