// The license, which only the main process has.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createLicense } from '@latchkey/client/node';
import keys from './latchkey-keys.json' with { type: 'json' };
import service from './latchkey.json' with { type: 'json' };

const { ORRERY_HOME } = process.env;

export const license = createLicense({
  ...service,
  keys,
  product: 'orrery',
  appVersion: '1.4.0',
  // In Electron: app.getPath('userData').
  dir: ORRERY_HOME ?? join(homedir(), '.orrery'),
  // In Electron, for the system's proxy: fetch: (url, init) => net.fetch(url, init).
});
