// The application's license. Everything else imports it from here.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createLicense, machineFingerprint } from '@latchkey/client/node';
import keys from './latchkey-keys.json' with { type: 'json' };
import service from './latchkey.json' with { type: 'json' };

const PRODUCT = 'orrery';
const { ORRERY_HOME, ORRERY_MACHINE_ID } = process.env;

/** A user may pass an id where the machine has none, as in a container. Elsewhere, all machines could share a seat by it. */
const passedId = () => {
  try {
    machineFingerprint(PRODUCT);
    return undefined;
  } catch {
    return ORRERY_MACHINE_ID;
  }
};

export const license = createLicense({
  ...service,
  keys,
  product: PRODUCT,
  appVersion: '1.4.0',
  releaseDate: '2026-11-01',
  // On a machine without an id, and without one that is passed, a random id is kept here, too.
  dir: ORRERY_HOME ?? join(homedir(), '.orrery'),
  fingerprint: passedId(),
});

/** A passed id is only good with a lease: a container that is gone gives nothing back. */
export const isAllowedHere = ({ machine, activation }) =>
  machine !== 'given' || activation === null || activation.leaseUntil !== null;
