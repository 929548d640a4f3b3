import type { Refusal, Usage } from './admission.ts';
import type { CountedCall, DayUsage } from './ledger.ts';
import type { RateState } from './rate.ts';
import type { Verdict } from './verdict.ts';

// What a gate answers to its callers.

export type VerifyReply =
  | { refused: null; rate: RateState; verdict: Verdict; apiUsage: number; apiLimit: number }
  | Refusal;

/**
 * A reply crosses to the Worker as text: an object would come with a disposer of its own, which costs a verify
 * more than to write JSON and to read it.
 */
export type ReplyText = string & { readonly isReply: true };

export const writeReply = (reply: VerifyReply) => JSON.stringify(reply) as ReplyText;

export const readReply = (text: ReplyText) => JSON.parse(text) as VerifyReply;

/** What a charged call took, to give back if the call comes to nothing. */
export interface Receipt {
  call: CountedCall;
  periodStartMs: number;
  countedAtMs: number;
}

export type Charge =
  | { refused: null; receipt: Receipt }
  | { refused: 'usage_limit_exceeded'; retryAfterSeconds: number };

export interface Statistics extends Usage {
  days: DayUsage[];
  firstValidVerifyMs: number | null;
}
