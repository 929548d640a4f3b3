import { expect, onTestFinished, test } from 'vitest';
import { HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, status } from '../support/fake-service.ts';
import { turns } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';

const FILE = { kind: 'offline', nonce: null, offline_days: 180 } as const;
const never = () => new Promise<never>(() => {});
const storedIn = ({ text }: { text: string | null }) => JSON.parse(text ?? 'null') as Record<string, unknown>;

test('an update costs no write while nothing but the time has moved a little', async () => {
  const { time, store, create, activate } = await setUp();
  const idle = create();
  await idle.start();
  await idle.stop();
  expect(store.writes).toBe(0);
  await activate();
  const { writes } = store;
  for (const [ms, count] of [
    [HOUR_MS / 2, 0],
    [HOUR_MS / 2 - 1, 0],
    [1, 1],
    [HOUR_MS, 2],
  ] as const) {
    time.nowMs += ms;
    const license = create();
    await license.start();
    await license.stop();
    expect(store.writes - writes).toBe(count);
  }
});

test('the end of a lease is stored, so that setting the clock back does not bring it back', async () => {
  const { time, service, create, activate } = await setUp();
  service.terms.leaseMs = 15 * 60_000;
  await activate();
  service.always = status(404);
  const runOffline = async () => {
    const license = create();
    const state = await time.drive(license.start());
    await license.stop();
    return state;
  };
  const before = time.nowMs;
  time.nowMs += 15 * 60_000;
  expect(await runOffline()).toMatchObject({ code: 'offline_expired' });
  time.nowMs = before;
  expect(await runOffline()).toMatchObject({ code: 'clock_rolled_back' });
});

test('what another process writes just after the read is kept, also in a store without a lock', async () => {
  const { service, store, create, activate } = await setUp();
  const file = await service.sign({ ...FILE, license_key: 'OTHER-LICENSE' });
  await activate();
  const written = store.text;
  store.text = null;
  let reads = 0;
  const unlocked = {
    get: async () => {
      const { text } = store;
      reads += 1;
      // `start()` reads once, and `loadFile()` reads before it decides, and before it writes.
      if (reads === 3) store.text = written;
      return text;
    },
    set: store.set,
  };
  const license = create({ store: unlocked });
  await license.start();
  expect(reads).toBe(1);
  await license.loadFile(file);

  await license.stop();
  expect(storedIn(store)['licenseKey']).toBe(LICENSE_KEY);
});

test('a store that hangs costs five seconds once, and is asked again once it has answered', async () => {
  const { time, store, create, activate } = await setUp();
  await activate();
  let answer = () => {};
  const asked: string[] = [];
  const license = create({
    store: {
      get: () => {
        asked.push('get');
        return new Promise((resolve) => {
          answer = () => resolve(store.text);
        });
      },
      set: store.set,
    },
  });
  expect(await time.drive(license.start())).toMatchObject({ problem: { kind: 'store' } });
  expect(await time.drive(license.refresh())).toMatchObject({ code: 'key_missing' });
  expect(time.waits).toEqual([5_000]);
  expect(asked).toHaveLength(1);
  answer();
  await turns();
  const started = license.start();
  await turns();
  answer();
  expect(await started).toMatchObject({ valid: true, problem: null });
  const stopped = license.stop();
  await turns();
  answer();
  await stopped;
});

test('a store that can’t be read at the start is read again within minutes, until it answers', async () => {
  for (const failures of [1, 12]) {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    service.always = status(404);
    let reads = 0;
    const get = async () => {
      reads += 1;
      if (reads <= failures) throw new Error('EMFILE');
      return store.get();
    };
    const license = create({ store: { get, set: store.set } });
    const problem = { kind: 'store' };
    expect(await time.drive(license.start())).toMatchObject({ code: 'key_missing', problem });
    for (let second = 0; second < failures * 120 && !license.state.valid; second += 1) {
      time.pass(1_000);
      await time.drive(turns(3));
    }
    expect(license.state).toMatchObject({ valid: true, source: 'stored' });
    expect(license.state.problem?.kind).not.toBe('store');
    await time.drive(license.stop());
  }
});

test('a store that is empty is not read again by itself', async () => {
  const { time, store, create } = await setUp();
  let reads = 0;
  const get = async () => {
    reads += 1;
    return store.get();
  };
  const license = create({ store: { get, set: store.set } });
  await license.start();
  time.pass(48 * HOUR_MS);
  await turns();
  expect(reads).toBe(1);
  await license.stop();
});

test('a lock that is never given does not keep the token from the application', async () => {
  const { time, store, create, activate } = await setUp();
  await activate();
  const license = create({ store: { get: store.get, set: store.set, lock: never } });
  expect(await time.drive(license.start())).toMatchObject({ valid: true, problem: { kind: 'store' } });
  expect(time.waits).toEqual([5_000]);
  await time.drive(license.stop());
  expect(time.waits).toEqual([5_000]);
});

test('a lock that fails does not keep the token from the application', async () => {
  const { time, store, create, activate } = await setUp();
  await activate();
  const lock = () => {
    throw new Error('no locks here');
  };
  const license = create({ store: { get: store.get, set: store.set, lock } });
  expect(await time.drive(license.start())).toMatchObject({ valid: true });
  await license.stop();
});

test('an offline file stays good in a process whose store can’t be written', async () => {
  const { time, service, store, create } = await setUp();
  const set = async () => {
    throw Object.assign(new Error('EROFS: /home/ada'), { code: 'EROFS', path: '/opt/orrery/license.json' });
  };
  const license = create({ store: { get: store.get, set } });
  await license.start();
  const problem = { kind: 'store', message: 'The store fails: set EROFS /opt/orrery/license.json' };
  expect(await license.loadFile(await service.sign(FILE))).toMatchObject({ valid: true, problem });
  service.always = status(404);
  expect(await time.drive(license.refresh())).toMatchObject({ valid: true });
  expect(await license.stop()).toMatchObject({ valid: true, problem });
});

test('a lock that fails while an earlier one is still pending ends no process', async () => {
  const { time, store, create } = await setUp();
  const failures: unknown[] = [];
  const note = (reason: unknown) => void failures.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  let locks = 0;
  const lock = async () => {
    locks += 1;
    if (locks > 1) throw new Error('ELOCKED');
    return never();
  };
  const license = create({ store: { get: store.get, set: store.set, lock } });
  await time.drive(license.start());
  expect(await time.drive(license.refresh())).toMatchObject({ problem: { kind: 'store' } });
  await turns();
  expect(locks).toBe(2);
  expect(failures).toEqual([]);
  await time.drive(license.stop());
});
