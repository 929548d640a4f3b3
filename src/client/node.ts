export { createLicense, type NodeLicenseOptions } from './node/license.ts';
export { fileStore } from './node/file-store.ts';
export { machineFingerprint } from './node/fingerprint.ts';
export type * from './core/types.ts';
