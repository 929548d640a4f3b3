import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, status } from '../support/fake-service.ts';
import { until } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';

const OTHER_KEY = 'OTHER-LICENSE';

type SetUp = Awaited<ReturnType<typeof setUp>>;

const leavingIn = ({ store }: SetUp) =>
  (JSON.parse(store.text ?? '{}') as { leaving?: string | null }).leaving;

/** The license keys whose seats were given back. */
const released = ({ service }: SetUp) =>
  service.requests.filter(({ path }) => path === 'deactivate').map(({ input }) => input['license_key']);

const switchKey = async (world: SetUp) => {
  const license = world.create();
  await license.start();
  expect(await world.time.drive(license.activate(OTHER_KEY))).toMatchObject({ valid: true });
  return license;
};

describe('another license key', () => {
  test('gives back the seat of the one before', async () => {
    const world = await setUp();
    await world.activate();
    const license = await switchKey(world);
    await until(() => leavingIn(world) === null);
    expect(released(world)).toEqual([LICENSE_KEY]);
    expect(license.state).toMatchObject({ valid: true, problem: null });
    await license.stop();
  });

  test('gives it back later if the network is gone, also after a restart', async () => {
    const world = await setUp();
    const { time, service, create, activate } = world;
    await activate();
    const license = create();
    await license.start();
    service.always = (request) => (request.path === 'deactivate' ? status(500)() : service.answer(request));
    await time.drive(license.activate(OTHER_KEY));
    await time.drive(license.stop());
    expect(leavingIn(world)).toBe(LICENSE_KEY);
    expect(license.state.problem).toBeNull();
    service.always = null;
    service.requests.length = 0;
    time.nowMs += DAY_MS;
    const next = create();
    await next.start();
    await until(() => leavingIn(world) === null);
    expect(released(world)).toEqual([LICENSE_KEY]);
    await next.stop();
  });

  test('that is only another spelling gives back nothing', async () => {
    const world = await setUp();
    const { time, service, create, activate } = world;
    await activate();
    service.terms.statement = { license_key: LICENSE_KEY };
    const license = create();
    await time.drive(license.activate(LICENSE_KEY.toLowerCase()));
    await time.drive(license.refresh());
    await time.drive(license.stop());
    expect(released(world)).toEqual([]);
  });

  test.for(['no_seat', 'suspended'] as const)('that is refused gives back nothing: %s', async (code) => {
    const world = await setUp();
    const { time, service, create, activate } = world;
    await activate();
    service.refuse(code, 'active');
    const license = create();
    await time.drive(license.activate(OTHER_KEY));
    await time.drive(license.stop());
    expect(released(world)).toEqual([]);
  });

  test('after deactivate() gives back nothing once more', async () => {
    const world = await setUp();
    const { time, service, create, activate } = world;
    await activate();
    const license = create();
    await time.drive(license.deactivate());
    service.requests.length = 0;
    await time.drive(license.activate(OTHER_KEY));
    await time.drive(license.stop());
    expect(released(world)).toEqual([]);
  });
});

test('the file of another license gives back the seat of the license key', async () => {
  const world = await setUp();
  await world.activate();
  const license = world.create();
  const file = await world.service.sign({ kind: 'offline', offline_days: 180, license_key: OTHER_KEY });
  expect(await license.loadFile(file, { replace: true })).toMatchObject({ valid: true });
  await until(() => leavingIn(world) === null);
  expect(released(world)).toEqual([LICENSE_KEY]);
  await license.stop();
});
