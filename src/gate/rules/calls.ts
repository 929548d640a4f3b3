import type { PresentedKey } from '../../shared/rules/api-keys.ts';
import type { SeatCall } from './seats.ts';

// What an application asks.

export interface ApplicationRequest {
  licenseKey: string;
  name?: string | undefined;
  platform?: string | undefined;
  appVersion?: string | undefined;
  fingerprint?: string | undefined;
  /** The product that the application belongs to. */
  product?: string | undefined;
  /** When the application's version was released. */
  releaseDate?: string | undefined;
  leaseSeconds?: number | undefined;
  /** The activation whose seat the application takes over. */
  replace?: string | undefined;
}

export interface Call {
  presented: PresentedKey;
  call: SeatCall;
  licenseKey: string;
  /** Null for a verify that has nothing but a license key. */
  request: ApplicationRequest | null;
  /** A repeat with the same id isn't counted again. */
  callId: string;
  /** Whether the Worker can sign a token. Every answer has one, unless it has only the five fields of a plain verify. */
  canSign: boolean;
  /** Whether a branch has counted the call before, but can't answer its repeat. */
  wasCounted?: boolean;
}
