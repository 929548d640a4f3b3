import { createLicenseOn } from '../core/license.ts';
import type { Runtime } from '../core/options.ts';
import type { License, LicenseOptions } from '../core/types.ts';
import { fileStore } from './file-store.ts';
import { machineFingerprint } from './fingerprint.ts';
import { storedId } from './stored-id.ts';

export interface NodeLicenseOptions extends LicenseOptions {
  /** The directory in which the license key and the last token are stored. */
  dir?: string | undefined;
}

/** A program that can't be licensed here yet must still start, so a machine without an id gets one in the directory. */
const fingerprintIn = (
  dir: string | undefined,
  product: string,
): { fingerprint: string } & Pick<Runtime, 'machine'> => {
  try {
    return { fingerprint: machineFingerprint(product), machine: 'system' };
  } catch (error) {
    if (dir === undefined) throw error;
    return { fingerprint: storedId(dir), machine: 'stored' };
  }
};

/** Like the core's, with a store in a directory and a fingerprint of the machine, unless they are passed. */
export const createLicense = ({ dir, ...options }: NodeLicenseOptions): License => {
  const { product, keys, fingerprint: given } = options;
  if (dir === undefined ? options.store === undefined : typeof dir !== 'string' || dir === '')
    throw new TypeError('dir must be the directory in which the license is stored.');
  const { fingerprint, machine } =
    given === undefined
      ? fingerprintIn(dir, product ?? keys?.account)
      : ({ fingerprint: given, machine: 'given' } as const);
  return createLicenseOn(
    { ...options, store: options.store ?? fileStore(dir ?? ''), fingerprint },
    { platform: process.platform, machine },
  );
};
