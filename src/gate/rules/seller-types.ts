import type { Terms } from '../../shared/rules/terms.ts';
import type { ApplicationCode, ApplicationVerdict } from './application-verdict.ts';
import type { Seat, Activation, Machine } from './seats.ts';
import type { CopiedLicense } from './rows.ts';

// What a seller asks about a license's seats, and the answers.

export interface SeatPage {
  activations: Activation[];
  seats: ApplicationVerdict['seats'];
}

export type ReleaseResult = 'released' | 'not_found' | 'held_by_file';

export interface FileRequest {
  licenseKey: string;
  fingerprint?: string | undefined;
  /** For how many days the file is good, instead of the terms' `offline_days`. */
  days?: number | undefined;
}

/** What an offline file says, or why there is none. */
export type FileVerdict =
  | { refused: ApplicationCode | 'days_required' }
  | ({ refused: null; activationId: string | null; offlineDays: number; issuedAtMs: number } & Pick<
      CopiedLicense,
      'licenseKey' | 'id' | 'product' | 'expiresAt' | 'updatesUntil'
    > &
      Pick<Terms, 'entitlements'>);

/** The last activation of an export's page. */
export type ActivationPosition = Pick<Activation, 'licenseId' | 'fingerprint'>;

/** A machine of an import. */
export interface ImportedSeat extends Machine {
  licenseKey: string;
  fingerprint: string;
  seat: Seat;
}

/** `skipped` is a machine that has held no seat within the last 30 days. */
export type ImportedSeatResult = 'created' | 'unchanged' | 'skipped' | 'no_seat' | 'license_not_found';

/** A license, and until when it was a customer's who is erased. */
export interface TracedLicense {
  licenseId: string;
  untilMs: number;
}
