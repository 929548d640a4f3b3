import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, hang, status } from '../support/fake-service.ts';
import { turns, until } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';

describe('start()', () => {
  test('with a good stored token resolves without waiting for the network', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    time.nowMs += DAY_MS;
    service.always = hang(time);
    const license = create();
    expect(license.state).toMatchObject({ valid: false, code: 'loading', source: 'none' });
    expect(await license.start()).toMatchObject({ valid: true, code: 'valid', source: 'stored' });
    await until(() => service.requests.length === 1);
    expect(service.paths()).toEqual(['verify']);
    expect(license.has('export')).toBe(true);
    await time.drive(license.stop());
  });

  test('refreshes a good stored token in the background', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    time.nowMs += DAY_MS;
    const license = create();
    const sources: string[] = [];
    license.onChange(({ source }) => sources.push(source));
    await license.start();
    await until(() => license.state.source === 'network');
    expect(sources).toEqual(['stored', 'network']);
    expect(service.paths()).toEqual(['verify']);
    await license.stop();
  });

  test('of a program that runs for moments verifies once a day, and waits for the answer', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    const run = async () => {
      const license = create();
      expect(await license.start()).toMatchObject({ valid: true });
      await license.stop();
    };
    for (let count = 0; count < 50; count += 1) {
      time.nowMs += 20 * 60_000;
      await run();
    }
    expect(service.requests).toEqual([]);
    time.nowMs += 4 * 3_600_000;
    const before = store.text;
    await run();
    expect(service.paths()).toEqual(['verify']);
    expect(JSON.parse(store.text ?? '').token).not.toBe(JSON.parse(before ?? '').token);
    await run();
    expect(service.requests).toHaveLength(1);
  });

  test('with a lease verifies at once', async () => {
    const { time, service, create, activate } = await setUp();
    service.terms.leaseMs = 3_600_000;
    await activate();
    const license = create();
    await license.start();
    await until(() => license.state.source === 'network');
    expect(service.paths()).toEqual(['verify']);
    await time.drive(license.stop());
  });

  test('without a license key says so and makes no call', async () => {
    const { service, create } = await setUp();
    const license = create();
    expect(await license.start()).toMatchObject({ valid: false, code: 'key_missing' });
    expect(await license.refresh()).toMatchObject({ code: 'key_missing' });
    expect(await license.activate()).toMatchObject({ code: 'key_missing' });
    expect(service.requests).toEqual([]);
    await license.stop();
  });

  test('without a good token waits for the verdict, and is inconclusive without one', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    store.text = JSON.stringify({ licenseKey: LICENSE_KEY });
    service.always = status(500);
    const license = create();
    const started = license.start();
    expect(license.state.code).toBe('loading');
    expect(await time.drive(started)).toMatchObject({ valid: false, code: 'inconclusive' });
    service.always = null;
    expect(await time.drive(license.start())).toMatchObject({ valid: true, source: 'network' });
    await license.stop();
  });

  test.for([
    null,
    '',
    'garbage',
    '[]',
    '{"licenseKey":5,"token":{},"chain":5,"markMs":"x"}',
    '{"token":"a.b.c"}',
  ])('a broken store is no token: %j', async (text) => {
    const { time, store, create } = await setUp();
    store.text = text;
    const license = create();
    expect(await license.start()).toMatchObject({ code: 'key_missing' });
    expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
    expect(JSON.parse(store.text ?? '')).toMatchObject({ licenseKey: LICENSE_KEY });
    await license.stop();
  });

  test('does not hang on a store that never answers, and says so', async () => {
    const { time, create } = await setUp();
    const never = () => new Promise<never>(() => {});
    const license = create({ store: { get: never, set: never } });
    expect(await time.drive(license.start())).toMatchObject({
      code: 'key_missing',
      problem: { kind: 'store' },
    });
    expect(time.waits).toEqual([5_000]);
    expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
    await time.drive(license.stop());
  });

  test('says why there is no verdict', async () => {
    const { time, service, store, create } = await setUp();
    store.text = JSON.stringify({ licenseKey: LICENSE_KEY });
    const license = create();
    const problemAfter = async (handler: () => Response) => {
      service.always = handler;
      return (await time.drive(license.refresh())).problem;
    };
    expect(await problemAfter(status(403))).toEqual({
      kind: 'refused',
      message: 'X',
      status: 403,
      requestId: 'req_1',
    });
    expect(await problemAfter(() => new Response('<h1>Sign in to Wi-Fi</h1>'))).toMatchObject({
      kind: 'network',
      status: 200,
    });
    expect(await problemAfter(() => Response.json({ token: 'a.b.c' }))).toMatchObject({ kind: 'crypto' });
    service.always = null;
    expect(await time.drive(license.refresh())).toMatchObject({ valid: true, problem: null });
    await license.stop();
  });

  test('that stop() overtakes while a refresh is in progress sets no timer', async () => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    let read = () => {};
    let isSlow = false;
    const get = async () => {
      if (isSlow) await new Promise<void>((resolve) => (read = resolve));
      return store.get();
    };
    const license = create({ store: { get, set: store.set } });
    service.always = hang(time);
    const refreshed = license.refresh();
    await until(() => service.requests.length === 1);
    isSlow = true;
    const started = license.start();
    await turns();
    const stopped = license.stop();
    isSlow = false;
    read();
    expect(await started).toMatchObject({ valid: true, source: 'stored' });
    await time.drive(Promise.all([refreshed, stopped]));
    expect(time.scheduled()).toEqual([]);
  });

  test('works with a store that fails', async () => {
    const { time, create } = await setUp();
    const fail = () => {
      throw new Error('disk full');
    };
    const license = create({ store: { get: fail, set: fail } });
    await license.start();
    expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
    expect(await time.drive(license.refresh())).toMatchObject({ valid: true });
    await license.stop();
  });
});
