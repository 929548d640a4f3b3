import { beforeEach, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

let ada: Customer;

beforeEach(async () => {
  ada = await signUp();
});

const send = (method: string, path: string, body?: object) =>
  ada.asSession(method, path, body, { 'idempotency-key': 'order-7' });
const entries = async (action: string) =>
  (await ada.asSession('GET', `/api/audit-log?action=${action}`)).body.data as Json[];

test('with one Idempotency-Key the account is changed once, and a repeat undoes no later change', async () => {
  const rename = () => send('PATCH', '/api/account', { name: 'Ada' });
  const answers = await Promise.all([rename(), rename()]);
  for (const { status, body } of answers) expect([status, body.name]).toEqual([200, 'Ada']);
  expect(await entries('account.update')).toHaveLength(1);
  await ada.asSession('PATCH', '/api/account', { name: 'Countess' });
  expect((await rename()).body.name).toBe('Countess');
  expect((await send('PATCH', '/api/account', { name: 'Grace' })).status).toBe(409);
});

test('with one Idempotency-Key a machine gets one file, which each repeat returns', async () => {
  const { id } = await ada.createLicense({ terms: { max_activations: 1 } });
  const issue = () => send('POST', `/api/v1/licenses/${id}/token`, { fingerprint: 'machine-1', days: 30 });
  const answers = [...(await Promise.all([issue(), issue()])), await issue()];
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  expect(await entries('offline_file.issue')).toHaveLength(1);
});

test('with one Idempotency-Key a repeat after hours gets the same file, which holds the seat no longer', async () => {
  useFakeClock(Date.now());
  const { id } = await ada.createLicense({ terms: { max_activations: 1 } });
  const path = `/api/v1/licenses/${id}`;
  const issue = () => send('POST', `${path}/token`, { fingerprint: 'machine-1', days: 1 });
  const { body: first } = await issue();
  vi.advanceTimersByTime(20 * HOUR_MS);
  expect((await issue()).body).toEqual(first);
  const [machine] = (await ada.asSession('GET', `${path}/activations`)).body.data;
  const release = () => ada.asSession('DELETE', `${path}/activations/${machine.id}`);
  expect((await release()).body.error.code).toBe('invalid_transition');
  vi.advanceTimersByTime(5 * HOUR_MS);
  expect((await release()).status).toBe(200);
});

test('with one Idempotency-Key a repeat tells what the first call has erased', async () => {
  const email = 'grace@example.com';
  await ada.createLicense({ customer_email: email });
  const erase = () => send('POST', '/api/erase-customer', { customer_email: email });
  const first = await erase();
  expect(first.body.licenses).toBe(1);
  expect((await erase()).body).toEqual(first.body);
  expect((await ada.asSession('POST', '/api/erase-customer', { customer_email: email })).body.licenses).toBe(
    0,
  );
  expect((await send('POST', '/api/erase-customer', { customer_email: 'a@example.com' })).status).toBe(409);
});

test('with one Idempotency-Key a move of the account is a move to one region', async () => {
  const move = (region: string) => send('POST', '/api/home-region', { region });
  const first = await move('enam');
  expect(first.status).toBe(202);
  expect((await move('enam')).status).toBe(202);
  expect((await move('weur')).body.error.code).toBe('idempotency_conflict');
});
