import { describe, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { claimsOf, machineOf } from '../../support/activations.ts';
import type { Json } from '../../support/client.ts';
import { simulateNetwork } from '../../support/network.ts';
import { verifyFrom } from '../../support/regions.ts';
import { SEATS, useSeats } from '../../support/seats.ts';

// The seats of machines near a branch.

const { world, path, setTerms, on, open, activateIn } = useSeats();

test('a branch answers and signs the verify of a machine with a seat as home does', async () => {
  await open('oc');
  await on('oc', 'activate', 1, { name: 'Laptop', app_version: '2.1' });
  const sent = { name: 'Laptop', product: 'orrery', nonce: 'nonce-0123456789', release_date: '2026-11-01' };
  const far = await on('oc', 'verify', 1, sent);
  const near = await on('oc', 'verify', 1, sent);
  expect([far.region, near.region]).toEqual(['enam', 'oc']);
  const { token: farToken, api_usage: usage, ...answer } = far.body;
  expect(near.body).toEqual({ ...answer, api_usage: usage + 1, token: expect.any(String) });
  const claims = await claimsOf(world.ada, near.body.token);
  expect(claims).toEqual({ ...(await claimsOf(world.ada, farToken)), jti: expect.any(String) });
  expect(claims).toMatchObject({ nonce: sent.nonce, act: near.body.activation.id, ent: { export: true } });
  const refused = await on('oc', 'verify', 1, { product: 'other' });
  expect(refused).toMatchObject({ region: 'oc', body: { code: 'wrong_product' } });
});

test('a branch answers for a license without a limit of seats, also if no machine is named', async () => {
  await setTerms({ offline_days: 3, lease_seconds: 3_600 });
  await open('oc');
  const body = { code: 'valid', seats: null, activation: null };
  for (const region of ['enam', 'oc'])
    expect(await verifyFrom('oc', world.ada, world.license.license_key)).toMatchObject({ region, body });
  expect(await on('oc', 'verify', 1)).toMatchObject({ region: 'enam', body: { code: 'valid' } });
});

test('a verify goes home if the branch has no copy of the machine’s seat, or if the machine has changed', async () => {
  await open('oc');
  await activateIn('oc', 1);
  for (let i = 0; i < 2; i++)
    expect(await on('oc', 'verify', 2)).toMatchObject({ region: 'enam', body: { code: 'not_activated' } });
  const renamed = { body: { activation: { name: 'Desktop' } } };
  for (const region of ['enam', 'oc'])
    expect(await on('oc', 'verify', 1, { name: 'Desktop' })).toMatchObject({ region, ...renamed });
});

describe('no verify near a branch shows a seat that was released by', () => {
  const release = (id: string, query = '') =>
    world.ada.asSession('DELETE', `${path()}/activations/${id}${query}`);
  const releaseFile = async (id: string) => {
    await world.ada.asSession('POST', `${path()}/token`, { fingerprint: machineOf(1), days: 1 });
    return release(id, '?force=true');
  };
  const releaseWhileFloating = async () => {
    const patch = (lease_seconds: number | null) =>
      world.ada.asSession('PATCH', path(), { terms: { lease_seconds } });
    // The branch has to learn first that the seat was taken.
    await patch(null);
    await on('oc', 'verify', 1);
    await patch(60);
    await on('weur', 'deactivate', 1);
    const changed = await patch(null);
    await activateIn('oc', 2);
    return changed;
  };
  const letLapse = async () => {
    const changed = await setTerms({ ...SEATS, lease_seconds: 60 });
    await on('oc', 'verify', 1);
    vi.advanceTimersByTime(60_000);
    for (const n of [2, 3]) await on('enam', 'activate', n);
    return changed;
  };
  const RELEASES: [string, (id: string) => Promise<{ status: number }>, Json][] = [
    ['its machine', () => on('weur', 'deactivate', 1), 'not_activated'],
    ['another machine', (id) => on('weur', 'activate', 2, { replace: id }), 'not_activated'],
    ['the seller', release, 'not_activated'],
    ['the seller although a file holds it', releaseFile, 'not_activated'],
    ['its machine while seats had leases', releaseWhileFloating, 'not_activated'],
    ['the end of a lease from new terms', letLapse, 'no_seat'],
    ['a new license key', () => world.ada.asSession('POST', `${path()}/rotate-key`, {}), 'not_found'],
    ['the deletion of its license', () => world.ada.asSession('DELETE', path()), 'not_found'],
  ];

  test.for(RELEASES)('%s', async ([, releaseSeat, code]) => {
    await open('oc');
    const { id } = await activateIn('oc', 1);
    expect((await releaseSeat(id)).status).toBe(200);
    expect(await on('oc', 'verify', 1)).toMatchObject({ body: { valid: false, code } });
  });
});

test('a release waits for a branch that is cut off, and so does the machine that gets the seat', async () => {
  await setTerms({ max_activations: 1 });
  await open('oc');
  const { id } = await activateIn('oc', 1);
  vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The branch is cut off.'));
  const answered: string[] = [];
  const note = async (name: string, work: Promise<{ status: number }>) => {
    answered.push(`${name} ${(await work).status}`);
  };
  const noted = [note('released', world.ada.asSession('DELETE', `${path()}/activations/${id}`))];
  await scheduler.wait(100);
  noted.push(note('deactivated', on('weur', 'deactivate', 1)), note('activated', on('enam', 'activate', 2)));
  await scheduler.wait(200);
  expect(await on('oc', 'verify', 1)).toMatchObject({ region: 'oc', body: { code: 'valid' } });
  expect(answered).toEqual([]);
  vi.advanceTimersByTime(LEASE_MS);
  await Promise.all(noted);
  expect(answered.toSorted()).toEqual(['activated 200', 'deactivated 200', 'released 200']);
  expect(await on('oc', 'verify', 1)).toMatchObject({ body: { code: 'not_activated' } });
  expect(await on('enam', 'verify', 2)).toMatchObject({ body: { code: 'valid' } });
});

test('no verify from any region that begins after a release is answered is valid', async () => {
  const regions = ['oc', 'weur', 'apac-ne'] as const;
  for (const region of regions) await open(region);
  const { id } = await activateIn('oc', 1);
  for (const region of regions) for (let i = 0; i < 2; i++) await on(region, 'verify', 1);
  simulateNetwork('enam');
  let isReleased = false;
  const late: unknown[] = [];
  const early = new Set();
  const callers = [...regions, 'enam' as const].map(async (region) => {
    for (let isLast = false; !isLast;) {
      isLast = isReleased;
      const { body, region: answeredIn } = await on(region, 'verify', 1);
      if (isLast) late.push(body.code);
      else early.add(answeredIn);
    }
  });
  expect((await world.ada.asSession('DELETE', `${path()}/activations/${id}`)).status).toBe(200);
  isReleased = true;
  await Promise.all(callers);
  expect(early).toEqual(new Set([...regions, 'enam']));
  expect(late).toEqual(Array.from({ length: 4 }, () => 'not_activated'));
});

test('parallel activations from several regions never pass the limit', async () => {
  const regions = ['oc', 'weur', 'enam'] as const;
  await open('oc');
  await open('weur');
  simulateNetwork('enam');
  const callBoth = async (_: unknown, n: number) => {
    const region = regions[n % 3] ?? 'enam';
    const { code } = (await on(region, 'activate', n)).body;
    return `${code}, ${(await on(region, 'verify', n)).body.code}`;
  };
  const answers = await Promise.all(Array.from({ length: 30 }, callBoth));
  expect(answers.filter((codes) => codes.includes('valid'))).toEqual(['valid, valid', 'valid, valid']);
  expect((await world.ada.asSession('GET', `${path()}/activations`)).body.seats).toEqual({
    used: 2,
    limit: 2,
  });
});

test('the seats of a floating license are renewed, lapse and are taken at home', async () => {
  await setTerms({ max_activations: 1, lease_seconds: 60 });
  await open('oc');
  const codes = [];
  for (const name of ['activate', 'verify', 'verify'] as const) codes.push(await on('oc', name, 1));
  vi.advanceTimersByTime(60_000);
  codes.push(await on('weur', 'activate', 2), await on('oc', 'verify', 1));
  expect(codes.map(({ region, body }) => `${body.code} in ${region}`)).toEqual(
    ['valid', 'valid', 'valid', 'valid', 'no_seat'].map((code) => `${code} in enam`),
  );
});
