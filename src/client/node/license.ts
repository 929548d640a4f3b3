import { createLicenseOn } from '../core/license.ts';
import type { License, LicenseOptions } from '../core/types.ts';
import { fileStore } from './file-store.ts';
import { machineFingerprint } from './fingerprint.ts';

export interface NodeLicenseOptions extends LicenseOptions {
  /** The directory in which the license key and the last token are stored. */
  dir?: string | undefined;
}

/** Like the core's, with a store in a directory and a fingerprint of the machine, unless they are passed. */
export const createLicense = ({ dir, ...options }: NodeLicenseOptions): License => {
  if (typeof dir !== 'string' && options.store === undefined)
    throw new TypeError('dir must be the directory in which the license is stored.');
  const { product, keys } = options;
  return createLicenseOn(
    {
      ...options,
      store: options.store ?? fileStore(dir ?? ''),
      fingerprint: options.fingerprint ?? machineFingerprint(product ?? keys?.account),
    },
    { platform: process.platform },
  );
};
