import type { PresentedKey } from '../../shared/rules/api-keys.ts';
import type { CallInput, CallName } from '../../shared/rules/verdict.ts';

/** What an application asks of an account's gate. */
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
