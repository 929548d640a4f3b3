import { createLicense as createCore } from '../core/license.ts';
import type { License, LicenseOptions } from '../core/types.ts';
import { fileStore } from './file-store.ts';
import { machineFingerprint } from './fingerprint.ts';

export interface NodeLicenseOptions extends Omit<LicenseOptions, 'store'> {
  /** The directory in which the license key and the last token are stored. */
  dir: string;
}

export const createLicense = ({ dir, ...options }: NodeLicenseOptions): License =>
  createCore({
    ...options,
    store: fileStore(dir),
    fingerprint: options.fingerprint ?? machineFingerprint(options.product ?? options.keys.account),
  });
