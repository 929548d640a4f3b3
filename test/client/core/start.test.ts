import { describe, expect, test } from 'vitest';
import { LICENSE_KEY, hang, status } from '../support/fake-service.ts';
import { until } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';

describe('start()', () => {
  test('with a good stored token resolves without waiting for the network', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    service.always = hang(time);
    const license = create();
    expect(license.state).toMatchObject({ valid: false, code: 'loading', source: 'none' });
    expect(await license.start()).toMatchObject({ valid: true, code: 'valid', source: 'stored' });
    await until(() => service.requests.length === 1);
    expect(service.paths()).toEqual(['verify']);
    expect(license.has('export')).toBe(true);
    await license.stop();
  });

  test('refreshes a good stored token in the background', async () => {
    const { service, create, activate } = await setUp();
    await activate();
    const license = create();
    const sources: string[] = [];
    license.onChange(({ source }) => sources.push(source));
    await license.start();
    await until(() => license.state.source === 'network');
    expect(sources).toEqual(['stored', 'network']);
    expect(service.paths()).toEqual(['verify']);
    await license.stop();
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
