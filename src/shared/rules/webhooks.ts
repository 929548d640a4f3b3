import { DAY_MS, HOUR_MS } from './dates.ts';
import type { AccountPlan } from './plans.ts';

export const MAX_ENDPOINTS = 20;

/** Calls by session that may wait for an event at a time: each open tab of the dashboard makes one. */
export const MAX_TABS = 10;
/** The same for calls with an API key. */
export const MAX_LISTENERS: Record<AccountPlan, number> = { free: 2, pro: 10, scale: 50, own: 50 };

export const MAX_URL_LENGTH = 2_048;
export const MAX_DESCRIPTION_LENGTH = 200;

/** Above this number of pending deliveries of an endpoint, the oldest fail permanently. */
export const MAX_PENDING = 100_000;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** The delay before each retry. After the last retry, the delivery fails permanently. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Each delay varies by up to this fraction in either direction. */
export const RETRY_JITTER = 0.2;

/** A receiver's Retry-After is honored up to one day. */
export const MAX_RETRY_AFTER_MS = DAY_MS;

/** An endpoint is disabled if all attempts fail for this long. */
export const DISABLE_AFTER_MS = 5 * DAY_MS;

/** A 410 disables an endpoint if it answers 410 again after this time, in which it gets nothing. */
export const GONE_AGAIN_MS = 5 * MINUTE_MS;

/** What happens while an endpoint is disabled is kept for so long, to be replayed. */
export const KEEP_MISSED_MS = 14 * DAY_MS;

/** Deliveries of an account that replays make due in a day. Each takes two rows. */
export const MAX_REPLAYED_PER_DAY = 100_000;

/** Events and their deliveries are kept for so many days, unless a delivery is pending. */
export const RETENTION_DAYS = 30;

/** An endpoint's old secret keeps signing for this long after a rotation. */
export const OLD_SECRET_MS = DAY_MS;

/** Secrets of an endpoint that sign at a time: beyond it, none is rotated. */
export const MAX_SECRETS = 5;
/** Version 1.0 had no such bound. Each signature takes 47 bytes of a header that receivers limit to 8 KB. */
export const MAX_SIGNATURES = 100;
