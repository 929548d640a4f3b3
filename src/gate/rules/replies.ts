import type { Region } from '../../shared/rules/regions.ts';
import type { RateState } from '../../shared/rules/rate.ts';
import type { PlainVerdict, Verdict } from '../../shared/rules/verdict.ts';
import type { DayTraffic } from './traffic.ts';
import type { FeedPosition } from './rows.ts';
import type { CountedCall, DayUsage, ProductUsage, Usage } from './usage.ts';

// Types of the gate's answers.

/**
 * `holdsMs` is the time for which every call with the same key or session is refused in the same way, with the same
 * headers. The Worker answers such calls itself.
 */
export type Refusal =
  | { refused: 'unavailable' }
  | { refused: 'api_key_invalid'; holdsMs?: number }
  | { refused: 'insufficient_scope' | 'account_suspended' | 'ip_not_allowed'; rate: RateState }
  | { refused: 'usage_limit_exceeded'; rate: RateState; retryAfterSeconds: number }
  | { refused: 'rate_limit_exceeded'; rate: RateState; retryAfterSeconds: number; holdsMs?: number };

export type Admission = { refused: null; rate: RateState } | Refusal;

export type VerifyReply =
  | {
      refused: null;
      rate: RateState;
      verdict: PlainVerdict | Verdict;
      apiUsage: number;
      apiLimit: number;
    }
  | Refusal;

/**
 * A verify's reply crosses to the Worker as JSON text. An object would carry its own disposer over RPC, which
 * costs more than writing and parsing the text.
 */
export type ReplyText = string & { readonly isReply: true };

/** The epoch of the account's gate if it has moved, for the next call's name of it. */
export interface MovedTo {
  epoch?: number | undefined;
}

/** Where a call was answered. Has no regions unless the caller has named its own. */
export interface AnsweredIn extends MovedTo {
  region?: Region | null | undefined;
  /** The caller's region, if it has a branch that callers may turn to. */
  branch?: Region | undefined;
}

export const writeReply = (reply: VerifyReply, answeredIn: AnsweredIn = {}) =>
  JSON.stringify({ ...reply, ...answeredIn }) as ReplyText;

export const readReply = (text: ReplyText) => JSON.parse(text) as VerifyReply & AnsweredIn;

/** A licensing call that makes a change. Calls with the same claim are repeats, of which one at most is committed. */
export interface CountedChange {
  call: CountedCall;
  claim: string | null;
}

export interface AnnouncementRefusal {
  refused: 'usage_limit_exceeded' | 'unavailable';
  retryAfterSeconds: number;
}

/** `position` tells the change's own batch where to read the feed. */
export type Announcement = { refused: null; position: FeedPosition } | AnnouncementRefusal;

export interface Statistics extends Usage {
  days: DayUsage[];
  /** The period's calls by product. */
  products: ProductUsage[];
  firstValidVerifyMs: number | null;
}

export interface OpenBranch {
  region: Region;
  openedAtMs: number;
}

export interface RegionStatistics {
  branches: OpenBranch[];
  /** Calls by the regions of their callers and of the object that answered. */
  routes: DayTraffic;
}
