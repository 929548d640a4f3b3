import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { hang, LICENSE_KEY, status } from '../support/fake-service.ts';
import { until } from '../support/fake-time.ts';
import { setUp, START_MS } from '../support/setup.ts';

const setUpActive = async () => {
  const world = await setUp();
  await world.activate();
  const { text } = world.store;
  // Without its token, so that start() waits for the network.
  world.store.text = JSON.stringify({ ...(JSON.parse(text ?? '') as object), token: null });
  return { ...world, license: world.create() };
};

describe('a call', () => {
  test.for([
    [0, [0, 0]],
    [0.5, [250, 500]],
    [0.999, [499.5, 999]],
  ] as const)('makes three attempts with full jitter from 0.5 s: %j', async ([random, waits]) => {
    const { time, service, license } = await setUpActive();
    time.random = random;
    service.always = status(500);
    await time.drive(license.start());
    expect(service.paths()).toEqual(['verify', 'verify', 'verify']);
    expect(time.waits).toEqual(waits);
    await license.stop();
  });

  test('waits 10 s for each attempt', async () => {
    const { time, service, license } = await setUpActive();
    service.always = hang(time);
    expect(await time.drive(license.start())).toMatchObject({ code: 'inconclusive' });
    expect(time.waits).toEqual([10_000, 250, 10_000, 500, 10_000]);
    expect(service.requests.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
    expect(time.pending()).toEqual([]);
    await license.stop();
  });

  test('succeeds with a later attempt', async () => {
    const { time, service, license } = await setUpActive();
    service.handlers.push(status(503), () => Promise.reject(new TypeError('fetch failed')));
    expect(await time.drive(license.start())).toMatchObject({ valid: true });
    expect(service.requests).toHaveLength(3);
    await license.stop();
  });

  test.for([400, 401, 403, 404])('is not repeated after status %i', async (code) => {
    const { time, service, license } = await setUpActive();
    service.always = status(code);
    expect(await time.drive(license.start())).toMatchObject({ code: 'inconclusive' });
    expect(service.requests).toHaveLength(1);
    await license.stop();
  });

  test.for(['30', new Date(START_MS + 30_000).toUTCString()])('honors Retry-After: %s', async (header) => {
    const { time, service, license } = await setUpActive();
    service.handlers.push(status(429, { 'retry-after': header }));
    expect(await time.drive(license.start())).toMatchObject({ valid: true });
    expect(time.waits).toEqual([30_250]);
    await license.stop();
  });

  test('does not wait for a Retry-After of more than 30 s, which what happens by itself minds', async () => {
    const { time, service, license } = await setUpActive();
    service.handlers.push(status(429, { 'retry-after': '31' }));
    expect(await time.drive(license.start())).toMatchObject({ code: 'inconclusive' });
    expect(time.waits).toEqual([]);
    expect(await time.drive(license.start())).toMatchObject({ code: 'inconclusive' });
    expect(service.requests).toHaveLength(1);
    time.nowMs += 31_000;
    expect(await time.drive(license.start())).toMatchObject({ valid: true });
    await license.stop();
  });

  test('that a person asks for is made in spite of a Retry-After', async () => {
    const { time, service, license } = await setUpActive();
    service.handlers.push(status(429, { 'retry-after': '1728000' }));
    expect(await time.drive(license.start())).toMatchObject({ code: 'inconclusive' });
    expect(await time.drive(license.refresh())).toMatchObject({ valid: true });
    await license.stop();
  });

  test('is repeated soon after the page of a proxy with a long Retry-After', async () => {
    const { time, service, license } = await setUpActive();
    service.handlers.push(
      () => new Response('<h1>Maintenance</h1>', { status: 503, headers: { 'retry-after': '86400' } }),
    );
    expect(await time.drive(license.start())).toMatchObject({ valid: true });
    expect(service.requests).toHaveLength(2);
    await license.stop();
  });

  test('that the user asks for does not wait for a call in the background', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    time.nowMs += DAY_MS;
    service.handlers.push(hang(time));
    const license = create();
    await license.start();
    await until(() => service.requests.length === 1);
    const refreshed = license.refresh();
    expect(await time.drive(license.activate())).toMatchObject({ valid: true, source: 'network' });
    expect(await refreshed).toMatchObject({ valid: true, source: 'network' });
    expect(service.paths()).toEqual(['verify', 'activate']);
    expect(time.waits).toEqual([]);
    await license.stop();
  });
});

test('calls at once share one request', async () => {
  const { time, service, create, activate } = await setUp();
  await activate();
  const license = create();
  await Promise.all([license.start(), license.start()]);
  await time.drive(Promise.all([license.refresh(), license.refresh(), license.refresh()]));
  expect(service.paths()).toEqual(['verify']);
  service.requests.length = 0;
  await time.drive(Promise.all([license.activate(LICENSE_KEY), license.activate(LICENSE_KEY)]));
  expect(service.paths()).toEqual(['activate']);
  service.requests.length = 0;
  await time.drive(Promise.all([license.deactivate(), license.deactivate()]));
  expect(service.paths()).toEqual(['deactivate']);
  await license.stop();
});

test('stop() ends timers and requests', async () => {
  const { time, service, license } = await setUpActive();
  service.always = hang(time);
  const started = license.start();
  await until(() => service.requests.length === 1);
  await time.drive(license.stop());
  expect(time.waits).toEqual([2_000]);
  expect(await started).toMatchObject({ code: 'inconclusive' });
  expect(service.requests[0]?.signal.aborted).toBe(true);
  expect([...time.pending(), ...time.scheduled()]).toEqual([]);
  service.always = null;
  expect(await time.drive(license.start())).toMatchObject({ valid: true });
  await license.stop();
});

test('stop() during start() leaves nothing running', async () => {
  const { time, service, license } = await setUpActive();
  const started = license.start();
  await license.stop();
  await started;
  expect(service.requests).toEqual([]);
  expect([...time.pending(), ...time.scheduled()]).toEqual([]);
});
