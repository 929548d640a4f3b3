// The page's license.
import { createLicense } from '@latchkey/client';
import keys from './latchkey-keys.json' with { type: 'json' };
import service from './latchkey.json' with { type: 'json' };

const STORED = 'orrery.license';
const BROWSER_ID = 'orrery.browser';

/** A page can't identify the machine, so each browser profile has a random id and takes a seat of its own. */
const browserId = () => {
  const id = localStorage.getItem(BROWSER_ID) ?? crypto.randomUUID();
  localStorage.setItem(BROWSER_ID, id);
  return id;
};

export const license = createLicense({
  ...service,
  keys,
  product: 'orrery',
  appVersion: '1.4.0',
  fingerprint: browserId(),
  store: {
    get: async () => localStorage.getItem(STORED),
    set: async (text) => {
      if (text === null) localStorage.removeItem(STORED);
      else localStorage.setItem(STORED, text);
    },
    // Tabs take turns.
    lock: (update) => navigator.locks.request(STORED, update),
  },
});
