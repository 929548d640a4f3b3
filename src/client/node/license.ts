import { createLicenseOn } from '../core/license.ts';
import type { Runtime } from '../core/options.ts';
import type { License, LicenseOptions, Store } from '../core/types.ts';
import { closedStore, fileStore, isStoredIn, readStored } from './file-store.ts';
import { readFingerprint } from './fingerprint.ts';
import { considerateStore, ownerOf } from './record-owner.ts';
import { knownId, storedId } from './stored-id.ts';

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

/** A machine that a build without a product has licensed goes on as it was once a later build names one. */
const systemIn = (dir: string, product: string | undefined, account: string, timeoutMs?: number): Machine => {
  const named = system(product ?? account, timeoutMs);
  const ownerBy = ({ fingerprint = '' }: Machine) => ownerOf(readStored(dir), { fingerprint, account });
  if (product === undefined || ownerBy(named) !== 'other') return named;
  const unnamed = system(account, timeoutMs);
  return ownerBy(unnamed) === 'this' ? unnamed : named;
};

/** A machine whose id can't be read asks nothing and stores nothing, because it would do so as another machine. */
const unreadable = (dir: string): Machine => ({
  fingerprint: UNREADABLE,
  machine: 'system',
  store: closedStore(dir, UNREADABLE),
  fetch: async () => {
    throw new Error(UNREADABLE);
  },
});

/** A machine by the id in the directory. A store of the application's own is used as it is. */
const stored = (dir: string, account: string, store: Store | undefined): Machine => {
  const fingerprint = storedId(dir);
  return {
    fingerprint,
    machine: 'stored',
    store: store ?? considerateStore(fileStore(dir), { fingerprint, account }),
  };
};

/**
 * A program that can't be licensed here yet must still start, so a machine without an id gets one in the directory, and keeps
 * it as long as what is stored was stored by it. A machine that has stored something by another id waits until it's readable.
 */
const machineIn = (dir: string | undefined, options: LicenseOptions): Machine => {
  const { product, keys } = options;
  const account = keys?.account;
  if (dir === undefined) return system(product ?? account);
  const fingerprint = knownId(dir);
  const owner = fingerprint === null ? null : ownerOf(readStored(dir), { fingerprint, account });
  if (owner === 'this') return stored(dir, account, options.store);
  try {
    return systemIn(dir, product, account);
  } catch (error) {
    const { cause } = error as Error;
    if (cause !== undefined && owner !== 'nobody')
      try {
        return systemIn(dir, product, account, RETRY_TIMEOUT_MS);
      } catch {
        if (isStoredIn(dir)) return unreadable(dir);
      }
    return stored(dir, account, options.store);
  }
};

/** Like the core's, with a store in a directory and a fingerprint of the machine, unless they are passed. */
export const createLicense = ({ dir, ...options }: NodeLicenseOptions): License => {
  const { fingerprint: given, store } = options;
  if (dir === undefined ? store === undefined : typeof dir !== 'string' || dir === '')
    throw new TypeError('dir must be the directory in which the license is stored.');
  const { machine, ...own }: Machine =
    given === undefined ? machineIn(dir, options) : { fingerprint: given, machine: 'given' };
  return createLicenseOn(
    { ...options, store: store ?? fileStore(dir ?? ''), ...own },
    { platform: process.platform, machine },
  );
};
