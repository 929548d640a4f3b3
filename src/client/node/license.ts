import { createLicenseOn } from '../core/license.ts';
import type { Runtime } from '../core/options.ts';
import type { License, LicenseOptions } from '../core/types.ts';
import { closedStore, fileStore, isStoredIn } from './file-store.ts';
import { readFingerprint } from './fingerprint.ts';
import { hasStoredId, storedId } from './stored-id.ts';

export interface NodeLicenseOptions extends LicenseOptions {
  /** The directory in which the license key and the last token are stored. */
  dir?: string | undefined;
}

/** What is slow or busy for a moment, as a computer that has just started, gets more time the second time. */
const RETRY_TIMEOUT_MS = 30_000;
const UNREADABLE = 'MACHINE_ID_UNREADABLE';

type Machine = Pick<LicenseOptions, 'fingerprint' | 'fetch' | 'store'> & Pick<Runtime, 'machine'>;

const system = (product: string, timeoutMs?: number): Machine => ({
  fingerprint: readFingerprint(product, timeoutMs),
  machine: 'system',
});

/** A machine whose id can't be read asks nothing and stores nothing, because it would do so as another machine. */
const unreadable = (dir: string): Machine => ({
  fingerprint: UNREADABLE,
  machine: 'system',
  store: closedStore(dir, UNREADABLE),
  fetch: async () => {
    throw new Error(UNREADABLE);
  },
});

/**
 * A program that can't be licensed here yet must still start, so a machine without an id gets one in the directory. A machine
 * that has stored something without such an id had another, and keeps it.
 */
const machineIn = (dir: string | undefined, product: string): Machine => {
  try {
    return system(product);
  } catch (error) {
    if (dir === undefined) throw error;
    const { cause } = error as Error;
    if (cause !== undefined && !hasStoredId(dir))
      try {
        return system(product, RETRY_TIMEOUT_MS);
      } catch {
        if (isStoredIn(dir)) return unreadable(dir);
      }
    return { fingerprint: storedId(dir), machine: 'stored' };
  }
};

/** Like the core's, with a store in a directory and a fingerprint of the machine, unless they are passed. */
export const createLicense = ({ dir, ...options }: NodeLicenseOptions): License => {
  const { product, keys, fingerprint: given, store } = options;
  if (dir === undefined ? store === undefined : typeof dir !== 'string' || dir === '')
    throw new TypeError('dir must be the directory in which the license is stored.');
  const { machine, ...own }: Machine =
    given === undefined ? machineIn(dir, product ?? keys?.account) : { fingerprint: given, machine: 'given' };
  return createLicenseOn(
    { ...options, store: store ?? fileStore(dir ?? ''), ...own },
    { platform: process.platform, machine },
  );
};
