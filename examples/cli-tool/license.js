// The application's license. Everything else imports it from here.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createLicense } from '@latchkey/client/node';
import keys from './latchkey-keys.json' with { type: 'json' };
import service from './latchkey.json' with { type: 'json' };

const { ORRERY_HOME, ORRERY_MACHINE_ID } = process.env;

export const license = createLicense({
  ...service,
  keys,
  product: 'orrery',
  appVersion: '1.4.0',
  releaseDate: '2026-11-01',
  dir: ORRERY_HOME ?? join(homedir(), '.orrery'),
  // A container has no machine id of its own, so its user passes an id.
  fingerprint: ORRERY_MACHINE_ID,
});
