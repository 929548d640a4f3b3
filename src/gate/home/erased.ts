import type { Region } from '../../shared/rules/regions.ts';
import { type Admission, type ReplyText, writeReply } from '../rules/calls.ts';
import type { Forwarded, RenewalReply } from '../rules/messages.ts';
import type { Announcement } from '../rules/usage.ts';

/** Nothing makes a key of an erased account valid again. */
const HOLDS_MS = 600_000;
const INVALID_KEY = { refused: 'api_key_invalid', holdsMs: HOLDS_MS } as const;
const RETRY_SECONDS = 5;

/** What a gate answers while its account is being erased, from no rows. Other calls fail: nobody is let in who makes them. */
export const ERASED = {
  verify: (): ReplyText => writeReply(INVALID_KEY),
  application: (): ReplyText => writeReply(INVALID_KEY),
  forward: (): Forwarded => ({ reply: writeReply(INVALID_KEY), row: null, others: null }),
  admit: (): Admission => INVALID_KEY,
  admitSession: (): Admission => ({ refused: 'invalid_session' }),
  announce: (): Announcement => ({ refused: 'unavailable', retryAfterSeconds: RETRY_SECONDS }),
  abandon: (): void => {},
  pull: (): void => {},
  renew: (): RenewalReply => null,
  close: (): void => {},
  movingTo: (): Region | null => null,
};
