import { createLicenseOn } from '../../../src/client/core/license.ts';
import type { License, LicenseOptions, Store } from '../../../src/client/core/types.ts';
import { createService, FINGERPRINT, LICENSE_KEY, pinnedKeys } from './fake-service.ts';
import { createTime } from './fake-time.ts';

export const START_MS = Date.UTC(2026, 10, 22, 12);

/** A store like that of files, for several applications. */
const createStore = (text: string | null = null) => {
  let updates: Promise<unknown> = Promise.resolve();
  const store = {
    text,
    writes: 0,
    lock: <T>(update: () => Promise<T>): Promise<T> => {
      const updated = updates.then(update);
      updates = updated;
      return updated;
    },
    get: async () => store.text,
    set: async (next: string | null) => {
      store.text = next;
      store.writes += 1;
    },
  };
  return store satisfies Store;
};

/** An application on a machine, with a service, a clock, and a store of the test's own. */
export const setUp = async () => {
  const time = createTime(START_MS);
  const service = createService(time);
  const store = createStore();
  const keys = await pinnedKeys();
  const open: License[] = [];

  const create = (changes: Partial<LicenseOptions> = {}): License => {
    const license = createLicenseOn(
      {
        baseUrl: 'https://latchkey.test',
        apiKey: 'lk_test',
        keys,
        product: 'orrery',
        fingerprint: FINGERPRINT,
        store,
        fetch: service.fetch,
        now: time.now,
        ...changes,
      },
      time.runtime,
    );
    open.push(license);
    return license;
  };

  /** Activates, as on an earlier day, so that the store has a good token. */
  const activate = async (changes: Partial<LicenseOptions> = {}) => {
    const license = create(changes);
    const state = await time.drive(license.activate(LICENSE_KEY));
    await license.stop();
    service.requests.length = 0;
    return { license, state };
  };

  const stopAll = () => Promise.all(open.map((license) => license.stop()));
  return { time, service, store, keys, create, activate, stopAll };
};
