import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, status } from '../support/fake-service.ts';
import { setUp } from '../support/setup.ts';

const COVERED = { releaseDate: '2026-06-30' };
const NEWER = { releaseDate: '2026-11-01' };
const ENDED = { updates_until: '2026-06-30' };
const FILE = { kind: 'offline', nonce: null, offline_days: 180, ...ENDED } as const;

/** A machine with a license, and a service that judges each release. */
const setUpReleases = async () => {
  const world = await setUp();
  const { service } = world;
  service.terms.statement = ENDED;
  service.always = (request) => {
    const isNewer = request.input['release_date'] === NEWER.releaseDate;
    service.terms.statement = isNewer ? { valid: false, code: 'updates_ended', ...ENDED } : ENDED;
    return service.answer(request);
  };
  await world.activate(COVERED);
  const run = async (release: typeof COVERED) => {
    const license = world.create(release);
    const state = await world.time.drive(license.start());
    await world.time.drive(license.stop());
    return state;
  };
  return { ...world, run };
};

test('a release that isn’t covered leaves the license to an earlier one, which runs or starts without a network', async () => {
  const { time, service, create, run } = await setUpReleases();
  const running = create(COVERED);
  await running.start();
  time.nowMs += HOUR_MS;
  for (let count = 0; count < 2; count += 1)
    expect(await run(NEWER)).toMatchObject({ code: 'updates_ended', source: 'network' });
  service.always = status(503);
  expect(await time.drive(running.refresh())).toMatchObject({ valid: true });
  await running.stop();
  expect(await run(COVERED)).toMatchObject({ valid: true, source: 'stored' });
  expect(await run(NEWER)).toMatchObject({ valid: false, code: 'updates_ended', source: 'stored' });
  time.nowMs += 14 * DAY_MS;
  expect(await run(COVERED)).toMatchObject({ code: 'offline_expired' });
});

test('a release that isn’t covered leaves an earlier one its offline file', async () => {
  const { time, service, create, run } = await setUpReleases();
  const license = create(COVERED);
  expect(await license.loadFile(await service.sign(FILE))).toMatchObject({ valid: true });
  await time.drive(license.stop());
  await run(NEWER);
  service.always = status(503);
  time.nowMs += 100 * DAY_MS;
  expect(await run(COVERED)).toMatchObject({ valid: true, source: 'stored' });
  expect(await run(NEWER)).toMatchObject({ valid: false });
});

test('what would cover the release that was refused is dropped', async () => {
  const { service, create, time, run } = await setUpReleases();
  service.terms.statement = {};
  service.always = null;
  const license = create(COVERED);
  await time.drive(license.activate(LICENSE_KEY));
  await license.loadFile(await service.sign({ ...FILE, updates_until: null }));
  await license.stop();
  service.terms.statement = { valid: false, code: 'updates_ended', ...ENDED };
  const newer = create(NEWER);
  await newer.start();
  expect(await time.drive(newer.refresh())).toMatchObject({ code: 'updates_ended' });
  await newer.stop();
  service.always = status(503);
  expect(await run(NEWER)).toMatchObject({ valid: false, source: 'none' });
});

test('another license key that doesn’t cover this release takes the place of the one before, with its token', async () => {
  const { service, store, create, time } = await setUpReleases();
  const newer = create(NEWER);
  expect(await time.drive(newer.start())).toMatchObject({ code: 'updates_ended' });
  expect(await time.drive(newer.activate('OTHER-LICENSE'))).toMatchObject({ code: 'updates_ended' });
  await newer.stop();
  expect(JSON.parse(store.text ?? '')).toMatchObject({ licenseKey: 'OTHER-LICENSE', token: null });
  expect(service.paths()).toContain('activate');
});
