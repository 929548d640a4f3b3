import { expect, test } from 'vitest';
import type { License } from '../../../src/client/core/types.ts';
import { LICENSE_KEY, pinnedKeys, RING, status } from '../support/fake-service.ts';
import { setUp } from '../support/setup.ts';

// The operator has rotated the signing keys, and the application pins the oldest one. Whichever call has told it of the newer
// keys, what they have signed is good in the next process, too.

const OTHER_KEY = 'OTHER-LICENSE';

type SetUp = Awaited<ReturnType<typeof setUp>>;

const rotate = ({ service }: SetUp) => {
  service.terms.ring = RING.toReversed();
};

/** Another license key is refused, by an answer that isn't stored. */
const activateInVain = async ({ time, service }: SetUp, license: License, code: 'no_seat' | 'not_found') => {
  service.refuse(code, 'active');
  expect(await time.drive(license.activate(OTHER_KEY))).toMatchObject({ code });
  service.terms.statement = {};
};

/** What a process makes of the store without a network. */
const startOffline = async ({ time, service, create }: SetUp) => {
  service.always = status(500);
  const license = create();
  const state = await time.drive(license.start());
  await time.drive(license.stop());
  service.always = null;
  service.requests.length = 0;
  return state;
};

const STORED = { valid: true, source: 'stored' };

test('an activation takes new signing keys through the chain, and stores it', async () => {
  const world = await setUp();
  const { time, service, create, activate } = world;
  rotate(world);
  expect((await activate()).state).toMatchObject({ valid: true });
  expect(await startOffline(world)).toMatchObject(STORED);
  const license = create();
  expect(await time.drive(license.refresh())).toMatchObject({ source: 'network' });
  expect(service.paths()).toEqual(['verify']);
  await license.stop();
});

test('a license key that was mistyped first is good in the next process without a network', async () => {
  const world = await setUp();
  const { time, create } = world;
  rotate(world);
  const license = create();
  await activateInVain(world, license, 'not_found');
  expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
  await license.stop();
  expect(await startOffline(world)).toMatchObject(STORED);
});

test('a verify after another license key was refused is good in the next process', async () => {
  const world = await setUp();
  const { time, create, activate } = world;
  await activate();
  const license = create();
  await license.start();
  rotate(world);
  await activateInVain(world, license, 'no_seat');
  expect(await time.drive(license.refresh())).toMatchObject({ valid: true, source: 'network' });
  await license.stop();
  expect(await startOffline(world)).toMatchObject(STORED);
});

test('an offline file after a license key was mistyped is good in the next process', async () => {
  const world = await setUp();
  const { service, create } = world;
  rotate(world);
  const license = create();
  await activateInVain(world, license, 'not_found');
  const file = await service.sign({ kind: 'offline', offline_days: 180 });
  expect(await license.loadFile(file)).toMatchObject({ valid: true });
  await license.stop();
  expect(await startOffline(world)).toMatchObject(STORED);
});

test('a release that pins only the newest key keeps the links that an earlier one needs', async () => {
  const world = await setUp();
  const { time, create, activate } = world;
  rotate(world);
  await activate();
  const later = create({ keys: await pinnedKeys(RING.slice(2)) });
  await later.start();
  expect(await time.drive(later.refresh())).toMatchObject({ valid: true, source: 'network' });
  await later.stop();
  expect(await startOffline(world)).toMatchObject(STORED);
});
