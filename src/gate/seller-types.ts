import type { Terms } from '../shared/rules/terms.ts';
import type { Activation } from './activations.ts';
import type { ApplicationCode, ApplicationVerdict } from './application-verdict.ts';
import type { CopiedLicense } from './copy-tables.ts';

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
