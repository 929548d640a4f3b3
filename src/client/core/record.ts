import { parseObject, sign } from './bytes.ts';
import type { ClientSettings } from './options.ts';

/** What the store keeps, as one text. */
export interface LicenseRecord {
  licenseKey: string | null;
  /** The last good token of a call. */
  token: string | null;
  /** An offline file. */
  file: string | null;
  /** License keys that were replaced, whose seats have to be given back, with commas in between. */
  leaving: string | null;
  /** Whether the machine gave back its seat, so that nothing is verified until the next activation. */
  isReleased: boolean;
  /** When the service signed its last answer or file, in seconds. Of two records, the later one counts. */
  answeredAt: number;
  /** What has to be added to the machine's time. */
  offsetMs: number;
  /** The latest time at which a token was good, or the end of one that has ended. */
  markMs: number;
  /** Links of the chain that lead from the pinned keys to newer ones. */
  chain: string[];
}

export const EMPTY_RECORD: LicenseRecord = {
  licenseKey: null,
  token: null,
  file: null,
  leaving: null,
  isReleased: false,
  answeredAt: 0,
  offsetMs: 0,
  markMs: 0,
  chain: [],
};

const HOUR_MS = 3_600_000;
/** A record without a seal may be an editor's. It corrects the clock by so much at most. */
const MAX_UNSEALED_MS = 24 * HOUR_MS;

/**
 * A mark that has moved a little isn't worth a write, which another process's could cross. The end of what was held is, so
 * that setting the clock back doesn't bring it back.
 */
export const isWorthWriting = (next: LicenseRecord, stored: LicenseRecord, isValid: boolean): boolean => {
  const movedMs = next.markMs - stored.markMs;
  const isOther = JSON.stringify({ ...next, markMs: stored.markMs }) !== JSON.stringify(stored);
  return isOther || movedMs >= (isValid ? HOUR_MS : 1);
};

const hasType = (value: unknown, empty: unknown): boolean =>
  Array.isArray(empty) ? Array.isArray(value) : typeof value === typeof (empty ?? '');

/** Writes and reads the text of a record. A seal keeps a text editor from changing what no signature protects. */
export const openSealer = ({ keys: { account, keys }, application }: ClientSettings) => {
  const sealOf = (record: LicenseRecord, by = account) =>
    sign(`latchkey ${application.fingerprint} ${by}`, JSON.stringify(record));
  return {
    write: async (record: LicenseRecord): Promise<string> =>
      JSON.stringify({ ...record, seal: await sealOf(record) }),

    /** Returns null if the text is no record. A field of another type counts as empty. */
    read: async (stored: string | null): Promise<LicenseRecord | null> => {
      const value = parseObject(stored);
      if (!value) return null;
      const fields = Object.entries(EMPTY_RECORD).map(([name, empty]) => [
        name,
        hasType(value[name], empty) ? value[name] : empty,
      ]);
      const record = Object.fromEntries(fields) as LicenseRecord;
      // Earlier versions sealed by the first pinned key, which is another one after a rotation.
      for (const by of [account, ...keys.map(({ x }) => x)])
        if (value['seal'] === (await sealOf(record, by))) return record;
      const offsetMs = Math.min(Math.max(record.offsetMs, -MAX_UNSEALED_MS), MAX_UNSEALED_MS);
      // The tokens of the record say when they were signed.
      return { ...record, offsetMs, answeredAt: 0, markMs: 0 };
    },
  };
};
