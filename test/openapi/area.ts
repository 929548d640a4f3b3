import type { ErrorCode } from '../../src/shared/app-error.ts';
import type { Customer } from '../support/client.ts';
import type { Caller } from './callers.ts';

export interface Call {
  /** Completes the sentence "It answers this when …". */
  when: string;
  /** A session by default. */
  as?: Caller;
  body?: unknown;
  headers?: Record<string, string>;
  answers: `${number} ${ErrorCode | 'ok'}`;
}

/** Values for placeholders such as `{license}` in a path, a body, or a header. */
export type Values = Record<string, string>;

/** Calls to the operations of a part of the API. */
export interface Area {
  /** Adds what the calls need to a new account. Every target gets its own account. */
  setUp?: (ada: Customer) => Promise<Values>;
  /** The calls by their target, a method and a path. Those to one target are sent in their order. */
  calls: Record<string, Call[]>;
}
