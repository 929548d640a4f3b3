import { expect, test } from 'vitest';
import { sign } from '../../../src/client/core/bytes.ts';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { FINGERPRINT, pinnedKeys, RING, status } from '../support/fake-service.ts';
import { setUp, START_MS } from '../support/setup.ts';

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** Changes the stored text as a person with an editor does. */
const edit = ({ store }: SetUp, change: object) => {
  store.text = JSON.stringify({ ...JSON.parse(store.text ?? ''), ...change });
};

const startOffline = async ({ time, service, create }: SetUp, changes = {}) => {
  service.always = status(404);
  const license = create(changes);
  const state = await time.drive(license.start());
  await license.stop();
  return state;
};

test.for([
  ['a seal that doesn’t fit', {}],
  ['no seal', { seal: undefined }],
] as const)('an editor that sets the clock back in the record gains a day at most: %s', async ([, more]) => {
  const world = await setUp();
  await world.activate();
  for (const [day, valid] of [
    [14.9, true],
    [15.1, false],
    [400, false],
  ] as const) {
    world.time.nowMs = START_MS + day * DAY_MS;
    edit(world, { offsetMs: -day * DAY_MS, markMs: 0, ...more });
    expect(await startOffline(world)).toMatchObject({ valid });
  }
});

test('an editor that changes nothing but the mark breaks the seal, and a sealed record keeps its correction', async () => {
  const world = await setUp();
  world.service.aheadMs = -400 * DAY_MS;
  await world.activate();
  expect(await startOffline(world)).toMatchObject({ valid: true });
  edit(world, { markMs: 0 });
  expect(await startOffline(world)).toMatchObject({ valid: false });
});

test('a record of before, which has no seal, still opens, and is sealed by the next answer', async () => {
  const world = await setUp();
  await world.activate();
  edit(world, { seal: undefined });
  world.time.nowMs += DAY_MS;
  expect(await startOffline(world)).toMatchObject({ valid: true, source: 'stored' });
  world.service.always = null;
  const license = world.create();
  await world.time.drive(license.refresh());
  await license.stop();
  expect(JSON.parse(world.store.text ?? '')).toMatchObject({
    seal: expect.stringMatching(/^[\w-]{43}$/) as string,
  });
});

/** After a rotation, `keys pull` lists the new key first. */
const rotated = () => pinnedKeys([RING[1] ?? '', RING[0] ?? '']);

test.for([3, -400])(
  'an update with the keys of a rotation keeps the correction of a clock: %d days',
  async (days) => {
    const world = await setUp();
    world.service.aheadMs = days * DAY_MS;
    await world.activate();
    expect(await startOffline(world, { keys: await rotated() })).toMatchObject({ valid: true });
    edit(world, { markMs: 0 });
    expect(await startOffline(world, { keys: await rotated() })).toMatchObject({ valid: false });
  },
);

test('the seal of an earlier version holds, which was of the first pinned key, also after a rotation', async () => {
  const world = await setUp();
  world.service.aheadMs = 3 * DAY_MS;
  await world.activate();
  const { seal: _, ...record } = JSON.parse(world.store.text ?? '') as Record<string, unknown>;
  const secret = `latchkey ${FINGERPRINT} ${world.keys.keys[0]?.x}`;
  const text = JSON.stringify({ ...record, seal: await sign(secret, JSON.stringify(record)) });
  for (const keys of [world.keys, await rotated()]) {
    world.store.text = text;
    expect(await startOffline(world, { keys })).toMatchObject({ valid: true, source: 'stored' });
  }
});

test('a signed no is not undone by a store that can’t be written and claims to be newer', async () => {
  const world = await setUp();
  const { time, service, store, create, activate } = world;
  await activate();
  edit(world, { answeredAt: 9e15 });
  const { text } = store;
  const readOnly = {
    get: async () => text,
    set: async () => {
      throw new Error('EROFS');
    },
  };
  service.refuse('revoked');
  const license = create({ store: readOnly });
  await license.start();
  expect(await time.drive(license.refresh())).toMatchObject({ code: 'revoked' });
  service.always = status(404);
  expect(await time.drive(license.refresh())).toMatchObject({ valid: false, code: 'revoked' });
  expect(license.has('export')).toBe(false);
  await license.stop();
});
