import { expect, test } from 'vitest';
import { sign } from '../../../src/client/core/bytes.ts';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { FINGERPRINT, LICENSE_KEY, status } from '../support/fake-service.ts';
import { until } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';

// A seat that can't be given back at once is given back later, whatever the user does in between.

const SECOND_KEY = 'SECOND-LICENSE';
const THIRD_KEY = 'THIRD-LICENSE';

type SetUp = Awaited<ReturnType<typeof setUp>>;

const storedIn = ({ store }: SetUp) => JSON.parse(store.text ?? '{}') as Record<string, unknown>;

/** The license keys whose seats the service was asked to free. */
const released = ({ service }: SetUp) =>
  service.requests.filter(({ path }) => path === 'deactivate').map(({ input }) => input['license_key']);

/** An application with a license key, at a time when no seat can be given back. */
const setUpOwing = async () => {
  const world = await setUp();
  const { service } = world;
  await world.activate();
  service.always = (request) => (request.path === 'deactivate' ? status(500)() : service.answer(request));
  const license = world.create();
  await license.start();
  return { ...world, license };
};

/** The network is back, and the application starts on another day. */
const startLater = async ({ time, service, create }: SetUp) => {
  service.always = null;
  service.requests.length = 0;
  time.nowMs += DAY_MS;
  const license = create();
  await license.start();
  return license;
};

test('each of several license keys that were replaced without a network gives back its seat', async () => {
  const world = await setUpOwing();
  const { time, license } = world;
  await time.drive(license.activate(SECOND_KEY));
  await time.drive(license.activate(THIRD_KEY));
  await time.drive(license.stop());
  const next = await startLater(world);
  await until(() => storedIn(world)['leaving'] === null);
  expect(released(world)).toEqual([LICENSE_KEY, SECOND_KEY]);
  await next.stop();
});

test('a license key that is typed again keeps its seat, and the one in between gives its back', async () => {
  const world = await setUpOwing();
  const { time, license } = world;
  await time.drive(license.activate(SECOND_KEY));
  await time.drive(license.activate(LICENSE_KEY));
  await time.drive(license.stop());
  const next = await startLater(world);
  await until(() => storedIn(world)['leaving'] === null);
  expect(released(world)).toEqual([SECOND_KEY]);
  await next.stop();
});

test('after deactivate(), the seat of the license key before is given back without another activation', async () => {
  const world = await setUpOwing();
  const { time, service, license } = world;
  await time.drive(license.activate(SECOND_KEY));
  service.always = (request) =>
    request.input['license_key'] === LICENSE_KEY ? status(500)() : service.answer(request);
  expect(await time.drive(license.deactivate())).toMatchObject({ code: 'deactivated' });
  await time.drive(license.stop());
  const next = await startLater(world);
  await until(() => storedIn(world)['leaving'] === null);
  expect(released(world)).toEqual([LICENSE_KEY]);
  expect(next.state).toMatchObject({ code: 'deactivated', problem: null });
  await next.stop();
});

test('a license key that a file has replaced without a network gives back its seat at a later start', async () => {
  const world = await setUpOwing();
  const { time, service, license } = world;
  const file = await service.sign({ kind: 'offline', offline_days: 180, license_key: SECOND_KEY });
  expect(await license.loadFile(file, { replace: true })).toMatchObject({ valid: true });
  await time.drive(license.stop());
  const next = await startLater(world);
  await until(() => storedIn(world)['leaving'] === null);
  expect(released(world)).toEqual([LICENSE_KEY]);
  expect(next.state).toMatchObject({ valid: true });
  await next.stop();
});

test('a store of an earlier version, which remembered one seat, still opens, and gives back that seat too', async () => {
  const world = await setUpOwing();
  const { time, store, license } = world;
  await time.drive(license.activate(SECOND_KEY));
  await time.drive(license.stop());
  const { token, answeredAt, markMs } = storedIn(world);
  const record = {
    licenseKey: SECOND_KEY,
    token,
    file: null,
    leaving: LICENSE_KEY,
    isReleased: false,
    answeredAt,
    offsetMs: -400 * DAY_MS,
    markMs,
    chain: [],
  };
  const seal = await sign(`latchkey ${FINGERPRINT} ${world.keys.account}`, JSON.stringify(record));
  store.text = JSON.stringify({ ...record, seal });
  // Only a record whose seal holds corrects the clock by so much.
  time.nowMs += 400 * DAY_MS;
  const next = world.create();
  await next.start();
  expect(next.state).toMatchObject({ valid: true, source: 'stored' });
  await time.drive(next.activate(THIRD_KEY));
  await time.drive(next.stop());
  const last = await startLater(world);
  await until(() => storedIn(world)['leaving'] === null);
  expect(released(world)).toEqual([LICENSE_KEY, SECOND_KEY]);
  await last.stop();
});

test.for(['expired', 'suspended', 'updates_ended'] as const)(
  'a license that is no longer good gives back its seat once another one is good, though that was refused at first: %s',
  async (code) => {
    const world = await setUp();
    const { time, service, create, activate } = world;
    await activate();
    const license = create();
    await license.start();
    service.refuse(code, 'active');
    expect(await time.drive(license.refresh())).toMatchObject({ valid: false, code });
    service.refuse('no_seat', 'active');
    expect(await time.drive(license.activate(SECOND_KEY))).toMatchObject({ valid: false, code: 'no_seat' });
    expect(released(world)).toEqual([]);
    service.terms.statement = {};
    const replaced = license.activate(SECOND_KEY, { replace: 'act_1' });
    expect(await time.drive(replaced)).toMatchObject({ valid: true });
    await until(() => storedIn(world)['leaving'] === null);
    expect(released(world)).toEqual([LICENSE_KEY]);
    await license.stop();
  },
);

test('a license that is no longer good keeps its seat if its license key is typed again after a refused one', async () => {
  const world = await setUp();
  const { time, service, create, activate } = world;
  await activate();
  const license = create();
  await license.start();
  service.refuse('suspended');
  await time.drive(license.refresh());
  await time.drive(license.activate(SECOND_KEY));
  service.terms.statement = {};
  expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
  await until(() => storedIn(world)['leaving'] === null);
  expect(released(world)).toEqual([SECOND_KEY]);
  await license.stop();
});
