import { parseObject } from './bytes.ts';

/** What the store keeps, as one text. */
export interface LicenseRecord {
  licenseKey: string | null;
  /** The last good token of a call. */
  token: string | null;
  /** An offline file. */
  file: string | null;
  /** Whether the machine gave back its seat, so that nothing is verified until the next activation. */
  isReleased: boolean;
  /** When the service signed its last answer, in seconds. Of two records, the later one counts. */
  answeredAt: number;
  /** What has to be added to the machine's time. */
  offsetMs: number;
  /** The latest corrected time that was seen. */
  markMs: number;
  /** Links of the chain that lead from the pinned keys to newer ones. */
  chain: string[];
}

export const EMPTY_RECORD: LicenseRecord = {
  licenseKey: null,
  token: null,
  file: null,
  isReleased: false,
  answeredAt: 0,
  offsetMs: 0,
  markMs: 0,
  chain: [],
};

const hasType = (value: unknown, empty: unknown): boolean =>
  Array.isArray(empty) ? Array.isArray(value) : typeof value === typeof (empty ?? '');

/** Returns null if the text is no record. A field of another type counts as empty. */
export const parseRecord = (stored: string | null): LicenseRecord | null => {
  const value = parseObject(stored);
  const fields = Object.entries(EMPTY_RECORD).map(([name, empty]) => [
    name,
    value && hasType(value[name], empty) ? value[name] : empty,
  ]);
  return value && Object.fromEntries(fields);
};

/** Returns the record to go on with, when another process may have written the store meanwhile. */
export const mergeRecords = (own: LicenseRecord, stored: LicenseRecord | null): LicenseRecord => {
  if (!stored || stored.answeredAt < own.answeredAt) return own;
  const isSame = stored.answeredAt === own.answeredAt;
  return isSame ? { ...stored, markMs: Math.max(stored.markMs, own.markMs) } : stored;
};
