import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Returns a string that stays the same on this machine, and differs by product. */
export const machineFingerprint = (product: string): string =>
  createHmac('sha256', readFileSync('/etc/machine-id', 'utf8').trim()).update(product).digest('base64url');
