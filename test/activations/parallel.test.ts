import { expect, test } from 'vitest';
import { eraseLicense } from '../../src/erasure/license.ts';
import { machineOf, openLicense } from '../support/activations.ts';
import type { Json } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';
import { kill } from '../support/gate.ts';
import { newReceiver } from '../support/receiver.ts';

const range = (length: number) => Array.from({ length }, (_, n) => n);

const subscribeTo = async ({ customer }: Awaited<ReturnType<typeof openLicense>>, events: string[]) => {
  const receiver = await newReceiver();
  await customer.asSession('POST', '/api/webhooks', { url: receiver.url, events });
  return async (count: number): Promise<Json[]> =>
    (await receiver.receives(count)).map(({ body }) => JSON.parse(body));
};

test.for([
  ['a gate that keeps running', false],
  ['a gate that is killed in the middle', true],
] as const)('200 parallel activations hold exactly five seats in %s', async ([, isKilled]) => {
  const opened = await openLicense({ max_activations: 5 }, {}, 'scale');
  const { on, customer, license } = opened;
  const events = await subscribeTo(opened, ['activation.created']);
  const answered = new Set<string>();
  const activate = async (n: number) => {
    const answer = await on('activate', n);
    if (answer.valid) answered.add(machineOf(n));
    return answer;
  };
  const calls = range(200).map(activate);
  if (isKilled) {
    await Promise.race(calls);
    await kill(customer.accountId);
  }
  const first = await Promise.all(calls);
  // A call that the kill cut off may have taken a seat. Its repeat gets the same seat.
  const again = await Promise.all(
    range(200)
      .filter((n) => !first[n].code)
      .map(activate),
  );
  const codes = new Set([...first, ...again].map(({ code, error }) => code ?? error.code));
  expect([...codes].filter((code) => !['valid', 'no_seat', 'unavailable'].includes(code))).toEqual([]);
  expect(answered.size).toBe(5);

  const path = `/api/v1/licenses/${license.id}/activations?limit=100`;
  const { body } = await customer.asSession('GET', path);
  expect(body.seats).toEqual({ used: 5, limit: 5 });
  const held = body.data.map(({ fingerprint }: Json) => fingerprint);
  expect(new Set(held)).toEqual(answered);
  const created = await events(5);
  expect(new Set(created.map(({ fingerprint }) => fingerprint))).toEqual(answered);
});

test('50 parallel activations of one machine take one seat with one id and one event', async () => {
  const opened = await openLicense({ max_activations: 5 }, {}, 'scale');
  const events = await subscribeTo(opened, ['activation.created', 'activation.released']);
  const answers = await Promise.all(range(50).map(() => opened.on('activate', 1)));
  const ids = new Set(answers.map(({ activation }) => activation.id));
  expect(ids.size).toBe(1);
  expect(answers.every(({ code, seats }) => code === 'valid' && seats.used === 1)).toBe(true);
  await opened.on('deactivate', 1);
  const sent = (await events(2)).map(({ event, activation_id }) => `${event} ${activation_id}`);
  const [id] = ids;
  expect(sent.toSorted()).toEqual([`activation.created ${id}`, `activation.released ${id}`]);
});

test('a machine that returns to the seat that its offline file holds sends activation.created again', async () => {
  const opened = await openLicense({ max_activations: 1 });
  const { customer, license, on } = opened;
  const events = await subscribeTo(opened, ['activation.created', 'activation.released']);
  await customer.asKey('POST', `/api/v1/licenses/${license.id}/token`, { fingerprint: machineOf(1) });
  await on('deactivate', 1);
  expect(await on('verify', 1)).toMatchObject({ code: 'not_activated' });
  const { activation } = await on('activate', 1);
  const sent = (await events(3)).map(({ event, activation_id }) => `${event} ${activation_id}`);
  expect(sent.toSorted()).toEqual([
    `activation.created ${activation.id}`,
    `activation.created ${activation.id}`,
    `activation.released ${activation.id}`,
  ]);
});

test('a deletion that lost to a new license key keeps the license, its seats and its history', async () => {
  const { customer, license, on } = await openLicense({ max_activations: 1 });
  await on('activate', 1);
  const path = `/api/v1/licenses/${license.id}`;
  const ctx = ctxOf(customer.accountId);
  let license_key = '';
  const batch = async (statements: Parameters<typeof ctx.db.batch>[0]) => {
    license_key = (await customer.asKey('POST', `${path}/rotate-key`, {})).body.license_key;
    return ctx.db.batch(statements);
  };
  const db = Object.assign(Object.create(ctx.db), { batch }) as typeof ctx.db;
  await expect(eraseLicense({ ...ctx, db }, license.id)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await on('verify', 1, { license_key })).toMatchObject({ code: 'valid', seats: { used: 1 } });
  expect((await customer.asKey('GET', `${path}/history`)).body.data[0].action).toBe('key_rotated');
});
