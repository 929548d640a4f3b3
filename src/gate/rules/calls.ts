import type { PresentedKey } from '../../shared/rules/api-keys.ts';
import type { RateState } from '../../shared/rules/rate.ts';
import type { Region } from '../../shared/rules/regions.ts';
import type { CallInput, CallName, PlainVerdict, Verdict } from '../../shared/rules/verdict.ts';

// A call of an application as it reaches an object, and the object's reply.

export interface Call {
  presented: PresentedKey;
  name: CallName;
  input: CallInput;
  /** Whether the application says nothing but a license key. */
  isPlain: boolean;
  /** A repeat with the same id isn't counted again. */
  callId: string;
  /** Whether the Worker can sign a token. Every answer has one, unless it has only the five fields of a plain verify. */
  canSign: boolean;
  /** Whether a branch has counted the call before, but can't answer its repeat. */
  wasCounted?: boolean;
}

/**
 * `holdsMs` is the time for which every call with the same key or session is refused in the same way, with the same
 * headers. The Worker answers such calls itself. If `isForeign` is set, it is only for calls with the key from the same
 * address.
 */
export type Refusal =
  | { refused: 'unavailable' | 'invalid_session' }
  | { refused: 'api_key_invalid'; holdsMs?: number }
  | {
      refused: 'insufficient_scope' | 'account_suspended' | 'ip_not_allowed' | 'storage_limit_reached';
      rate: RateState;
    }
  | { refused: 'usage_limit_exceeded'; rate: RateState; retryAfterSeconds: number }
  | {
      refused: 'rate_limit_exceeded';
      rate: RateState;
      retryAfterSeconds: number;
      holdsMs?: number;
      isForeign?: true;
    };

export type Admission = { refused: null; rate: RateState } | Refusal;

/** What the object answers: the verdict, with the account's usage after the call, or why there is none. */
export type Reply =
  | {
      refused: null;
      rate: RateState;
      verdict: PlainVerdict | Verdict;
      apiUsage: number;
      apiLimit: number;
    }
  | Refusal;

/**
 * A reply crosses to the Worker as JSON text. An object would carry its own disposer over RPC, which costs more than
 * writing and parsing the text.
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

export const writeReply = (reply: Reply, answeredIn: AnsweredIn = {}) =>
  JSON.stringify({ ...reply, ...answeredIn }) as ReplyText;

export const readReply = (text: ReplyText) => JSON.parse(text) as Reply & AnsweredIn;

/** What home answers to an import or export that wants to go on: how long it waits first, or that another one runs. */
export type TransferTurn =
  | { refused: null; waitMs: number }
  | { refused: 'rate_limit_exceeded'; retryAfterSeconds: number };
