import { createHash, createHmac } from 'node:crypto';
import { parseObject, text } from '../core/bytes.ts';
import type { LicenseRecord } from '../core/record.ts';
import type { Store } from '../core/types.ts';

// Tells whose a record is, for a machine that may have two ids: the system's, which can't always be read, and a stored one.

/** A machine, by one of its ids. */
export interface Identity {
  fingerprint: string;
  /** The account of the pinned keys. */
  account: string;
}

const fpOf = (token: unknown): string | null => {
  const [, payload = ''] = (text(token) ?? '').split('.');
  return text(parseObject(Buffer.from(payload, 'base64url').toString())?.['fp']);
};

/**
 * The token or offline file of a record says whose record it is. Without one, the seal does. A record without any of them is
 * nobody's. This only decides which id is used: the core checks the signatures, and makes the same seal.
 */
export const ownerOf = (stored: string | null, { fingerprint, account }: Identity) => {
  const { seal, ...record } = parseObject(stored) ?? {};
  const fp = fpOf(record['token']) ?? fpOf(record['file']);
  const [said, own] = fp
    ? [fp, createHash('sha256').update(fingerprint)]
    : [seal, createHmac('sha256', `latchkey ${fingerprint} ${account}`).update(JSON.stringify(record))];
  if (said === undefined) return 'nobody';
  return said === own.digest('base64url') ? 'this' : 'other';
};

/** Whether a record has only a license key: it holds no license, and the user hasn't given back the seat. */
const isMereKey = (stored: string) => {
  const { licenseKey, token, file, isReleased } = (parseObject(stored) ?? {}) as Partial<LicenseRecord>;
  return Boolean(licenseKey) && !token && !file && !isReleased;
};

/**
 * A store in which the record of another machine stays as it is until this one has a license of its own: that machine may be
 * this one, whose id is hidden for a while.
 */
export const considerateStore = (store: Store, identity: Identity): Store => ({
  ...store,
  set: async (stored) => {
    const isWaiting =
      stored !== null && isMereKey(stored) && ownerOf(await store.get(), identity) === 'other';
    if (!isWaiting) await store.set(stored);
  },
});
