import { expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { machineOf } from '../../support/activations.ts';
import { gate, readGate, tamper } from '../../support/gate.ts';
import { presentedKey, verifyFrom, verifyIn } from '../../support/regions.ts';
import { useSeats } from '../../support/seats.ts';
import { waitUntil } from '../../support/wait-until.ts';

// What home and a branch tell each other of seats with a renewal.

const { world, path, setTerms, on, open, activateIn, renewed } = useSeats();

test('another region learns with its next renewal that a seat was taken, and the machine doesn’t wait for that', async () => {
  await open('oc');
  await activateIn('oc', 1);
  // No message from home arrives.
  vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The network is cut.'));
  expect(await on('enam', 'activate', 2)).toMatchObject({ body: { seats: { used: 2 } } });
  expect(await on('oc', 'verify', 1)).toMatchObject({ region: 'oc', body: { seats: { used: 1 } } });
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  await renewed();
  expect(await on('oc', 'verify', 1)).toMatchObject({ body: { seats: { used: 2 } } });
});

test('a branch keeps its copies while 1,100 machines activate between two renewals', async () => {
  await setTerms({ max_activations: 2_000 });
  await open('oc');
  await activateIn('oc', 1);
  // No message from home arrives but the answers to renewals.
  vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The network is cut.'));
  const activate = (n: number) => {
    const input = { license_key: world.license.license_key, fingerprint: machineOf(n) };
    return gate(world.ada.accountId).application(presentedKey(world.ada), 'activate', input, `launch-${n}`);
  };
  for (let from = 0; from < 1_100; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => activate(from + i + 1)));
    vi.advanceTimersByTime(1_000);
  }
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  await renewed();
  const [{ n: logged } = {}] = await readGate(world.ada.accountId, 'SELECT count(*) AS n FROM branch_log');
  expect(logged).toBe(1);
  const counted = await on('oc', 'verify', 1);
  expect(counted.body).toMatchObject({ code: 'valid', seats: { used: 1_100 } });
  expect(await verifyFrom('oc', world.ada, world.plainKey)).toMatchObject({ region: 'oc' });
});

test('a branch learns with its next renewal that a machine had to make room for others', async () => {
  await setTerms({ entitlements: { export: true } });
  await open('oc');
  await activateIn('oc', 1);
  await activateIn('oc', 2);
  await tamper(
    world.ada.accountId,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 998)
     INSERT INTO activations SELECT license_id, 'later-' || i, 'act_' || i, name, platform, app_version, activated_at_ms,
       last_seen_at_ms + i, counted_at_ms, lease_until_ms, file_until_ms, released_at_ms, live_until_ms
     FROM activations, n WHERE fingerprint = 'machine-0002'`,
  );
  // Nobody waits for the branch.
  vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The network is cut.'));
  expect(await on('enam', 'activate', 3)).toMatchObject({ body: { code: 'valid' } });
  expect(await on('oc', 'verify', 1)).toMatchObject({ region: 'oc' });
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  await renewed();
  const gone = { region: 'enam', body: { code: 'valid', activation: null } };
  expect(await on('oc', 'verify', 1)).toMatchObject(gone);
  for (const region of ['enam', 'oc'])
    expect(await on('oc', 'verify', 2)).toMatchObject({ region, body: { activation: {} } });
  const logged = await readGate(world.ada.accountId, "SELECT ref FROM branch_log WHERE kind = 'machines'");
  expect(logged).toEqual([{ ref: world.license.license_key }]);
});

test('home learns once an hour when a branch has seen a machine, and for heartbeats when it counted a call', async () => {
  await open('oc');
  await activateIn('oc', 1);
  const lastSeen = async () =>
    (await world.ada.asSession('GET', `${path()}/activations`)).body.data[0].last_seen_at;
  await tamper(world.ada.accountId, 'UPDATE activations SET counted_at_ms = counted_at_ms - ?', DAY_MS);
  const first = await lastSeen();
  for (let i = 0; i < 6; i++) {
    expect(await on('oc', 'verify', 1)).toMatchObject({ region: 'oc' });
    vi.advanceTimersByTime(HOUR_MS / 6);
    await renewed();
  }
  expect(await on('oc', 'heartbeat', 1)).toMatchObject({ body: { code: 'verify_due' } });
  expect(await lastSeen()).toBe(first);
  const { apiUsage } = (await verifyIn('oc', world.ada, 'UNKNOWN-KEY')) as { apiUsage: number };
  const { region, body } = await on('oc', 'verify', 1);
  expect({ region, usage: body.api_usage }).toEqual({ region: 'oc', usage: apiUsage + 1 });
  await waitUntil(lastSeen, (seen) => seen !== first);
  expect(await on('oc', 'heartbeat', 1)).toMatchObject({ body: { code: 'valid', api_usage: apiUsage + 1 } });
});
