import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { machineOf } from '../support/activations.ts';
import { type Customer, type Json, outcomeOf, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate } from '../support/gate.ts';
import { list } from '../support/licenses.ts';

// Lists by what only the gate knows: the machines of licenses, and how many seats they take.

beforeEach(() => useFakeClock('2027-03-01T12:00:00.000Z'));

/** The keys of a list's licenses, from pages of two. */
const keysOf = async (customer: Customer, query: Record<string, string>) => {
  const keys: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Json = await list(customer, { ...query, limit: '2', ...(cursor && { cursor }) });
    keys.push(...page.data.map((license: Json) => license.license_key.replace('-0000000', '')));
    cursor = page.next_cursor;
  }
  return keys;
};

/** An account with a product of two seats, whose licenses are named by a letter. */
const open = async (terms: Json = {}) => {
  const customer = await signUp();
  await customer.asKey('PUT', '/api/v1/products/orrery', { terms: { max_activations: 2, ...terms } });
  const create = (name: string, fields: Json = {}) =>
    customer.createLicense({ license_key: `${name}-0000000`, product: 'orrery', ...fields });
  const on = async (path: string, name: string, n: number, sent: Json = {}) => {
    const input = { license_key: `${name}-0000000`, fingerprint: machineOf(n), ...sent };
    const { body } = await customer.asKey('POST', `/api/v1/licenses/${path}`, input);
    expect([path, body.code]).toEqual([path, path === 'deactivate' ? 'deactivated' : 'valid']);
    return body;
  };
  const patch = ({ id }: Json, fields: Json) => customer.asSession('PATCH', `/api/v1/licenses/${id}`, fields);
  const keys = (query: Record<string, string>) => keysOf(customer, query);
  return { customer, create, on, patch, keys };
};

describe('seats', () => {
  test('licenses all of whose seats are taken are found by the limit that applies to them', async () => {
    const { create, on, patch, keys } = await open();
    for (const name of ['A', 'B', 'C']) await create(name);
    const own = await create('D', { terms: { max_activations: 1 } });
    await create('E', { terms: { max_activations: 'none' } });
    await create('F', { product: null });
    for (const name of ['A', 'D', 'E', 'F']) await on('activate', name, 1);
    for (const n of [1, 2]) await on('activate', 'B', n);
    for (const n of [2, 3]) await on('activate', 'E', n);
    expect(await keys({ seats: 'full' })).toEqual(['D', 'B']);
    expect(await keys({ seats: 'used' })).toEqual(['F', 'E', 'D', 'B', 'A']);
    expect(await keys({ seats: 'used', sort: 'created_at' })).toEqual(['A', 'B', 'D', 'E', 'F']);
    await patch(own, { terms: { max_activations: null } });
    expect(await keys({ seats: 'full' })).toEqual(['B']);
    await patch(own, { terms: { max_activations: 'none' } });
    expect(await keys({ seats: 'full' })).toEqual(['B']);
  });

  test('a change of the product’s limit holds for its licenses at once', async () => {
    const { customer, create, on, keys } = await open();
    await create('A');
    await on('activate', 'A', 1);
    const setSeats = (seats: number) =>
      customer.asKey('PUT', '/api/v1/products/orrery', { terms: { max_activations: seats } });
    expect(await keys({ seats: 'full' })).toEqual([]);
    await setSeats(1);
    expect(await keys({ seats: 'full' })).toEqual(['A']);
    await setSeats(3);
    expect(await keys({ seats: 'full' })).toEqual([]);
  });

  test('a seat that is released, or whose lease has ended, is free, as a verify says', async () => {
    const { customer, create, on, keys } = await open({ lease_seconds: 3_600 });
    for (const name of ['A', 'B']) {
      await create(name);
      for (const n of [1, 2]) await on('activate', name, n);
    }
    expect(await keys({ seats: 'full' })).toEqual(['B', 'A']);
    await on('deactivate', 'B', 2);
    expect(await keys({ seats: 'full' })).toEqual(['A']);
    vi.advanceTimersByTime(HOUR_MS - 1);
    expect(await keys({ seats: 'full' })).toEqual(['A']);
    await on('heartbeat', 'A', 1);
    vi.advanceTimersByTime(1);
    expect(await keys({ seats: 'full' })).toEqual([]);
    expect(await keys({ seats: 'used' })).toEqual(['A']);
    const { body } = await customer.asKey('POST', '/api/v1/licenses/verify', {
      license_key: 'A-0000000',
      fingerprint: machineOf(1),
    });
    expect(body.seats).toEqual({ used: 1, limit: 2 });
    await evict(customer.accountId);
    expect(await keys({ seats: 'used' })).toEqual(['A']);
  });

  test('a seat that an offline file holds is taken until the file ends', async () => {
    const { customer, create, on, keys } = await open({ max_activations: 1 });
    const { id } = await create('A');
    await on('activate', 'A', 1);
    const input = { fingerprint: machineOf(1), days: 3 };
    expect((await customer.asSession('POST', `/api/v1/licenses/${id}/token`, input)).status).toBe(200);
    await on('deactivate', 'A', 1);
    expect(await keys({ seats: 'full' })).toEqual(['A']);
    vi.advanceTimersByTime(3 * DAY_MS + 1_000);
    expect(await keys({ seats: 'full' })).toEqual([]);
  });

  test('the other filters narrow the list down further', async () => {
    const { customer, create, on, keys } = await open({ max_activations: 1 });
    await customer.asKey('PUT', '/api/v1/products/sextant', { terms: { max_activations: 1 } });
    const fields = [
      { customer_name: 'Ann' },
      { product: 'sextant' },
      { customer_email: 'bob@example.com' },
      { customer_name: 'Ann', metadata: { order: 7 } },
    ];
    for (const [i, name] of ['A', 'B', 'C', 'D'].entries()) {
      const { id } = await create(name, fields[i]);
      await on('activate', name, 1);
      if (name === 'A') await customer.asSession('POST', `/api/v1/licenses/${id}/suspend`);
    }
    expect(await keys({ seats: 'full', product: 'sextant' })).toEqual(['B']);
    expect(await keys({ seats: 'full', q: 'ann' })).toEqual(['D', 'A']);
    expect(await keys({ seats: 'full', q: 'ann', status: 'active' })).toEqual(['D']);
    expect(await keys({ seats: 'full', customer_email: 'bob@example.com' })).toEqual(['C']);
    expect(await keys({ seats: 'full', 'metadata.order': '7' })).toEqual(['D']);
    expect(await keys({ seats: 'full', q: 'C-0000000' })).toEqual(['C']);
    expect(await keys({ machine: machineOf(1), status: 'suspended' })).toEqual(['A']);
    expect(await keys({ seats: 'full', status: 'expired' })).toEqual([]);
  });

  test('another order than that of creation, both filters at once, and unknown seats are refused', async () => {
    const ada = await signUp();
    const errorOf = async (query: string) => {
      const { status, body } = await ada.asSession('GET', `/api/v1/licenses?${query}`);
      return [status, body.error?.details];
    };
    const sort = { path: 'sort', message: 'must be created_at or -created_at if seats or machine is set' };
    for (const query of ['seats=full&sort=expires_at', 'machine=Mac&sort=-customer_email'])
      expect(await errorOf(query)).toEqual([400, [expect.objectContaining(sort)]]);
    const both = { path: 'machine', message: 'can’t be combined with seats' };
    expect(await errorOf('seats=full&machine=Mac')).toEqual([400, [expect.objectContaining(both)]]);
    for (const query of ['seats=free', 'seats=', 'machine=', 'seats=full&cursor=7'])
      expect((await errorOf(query))[0]).toBe(400);
  });
});

describe('a machine', () => {
  test('is found by its fingerprint, the id of its activation, and the beginning of its name', async () => {
    const { create, on, keys } = await open();
    for (const name of ['A', 'B', 'C']) await create(name);
    const { activation } = await on('activate', 'A', 1, { name: 'Anna’s MacBook' });
    await on('activate', 'B', 1, { name: 'ANNA’S iMac' });
    await on('activate', 'C', 2, { name: 'Büro 100%' });
    expect(await keys({ machine: machineOf(1) })).toEqual(['B', 'A']);
    expect(await keys({ machine: machineOf(1), sort: 'created_at' })).toEqual(['A', 'B']);
    expect(await keys({ machine: activation.id })).toEqual(['A']);
    expect(await keys({ machine: 'anna’s' })).toEqual(['B', 'A']);
    expect(await keys({ machine: 'Anna’s mac' })).toEqual(['A']);
    expect(await keys({ machine: 'Büro 100%' })).toEqual(['C']);
    for (const text of ['machine', 'MacBook', '%', 'A_na', activation.id.slice(0, 12), 'A-0000000'])
      expect([text, await keys({ machine: text })]).toEqual([text, []]);
  });

  test('is found by its new name and not by its old one', async () => {
    const { create, on, keys } = await open();
    await create('A');
    await on('activate', 'A', 1, { name: 'Old' });
    vi.advanceTimersByTime(HOUR_MS);
    await on('verify', 'A', 1, { name: 'New' });
    expect(await keys({ machine: 'old' })).toEqual([]);
    expect(await keys({ machine: 'new' })).toEqual(['A']);
  });

  test('is found for 30 days after it has released its seat', async () => {
    const { customer, create, on } = await open();
    const found = async () =>
      (await customer.asKey('GET', '/api/v1/licenses?machine=laptop')).body.data.length;
    await create('A');
    await on('activate', 'A', 1, { name: 'Laptop' });
    await on('deactivate', 'A', 1);
    vi.advanceTimersByTime(29 * DAY_MS);
    await runDurableObjectAlarm(gate(customer.accountId));
    expect(await found()).toBe(1);
    vi.advanceTimersByTime(2 * DAY_MS);
    await runDurableObjectAlarm(gate(customer.accountId));
    expect(await found()).toBe(0);
  });

  test('of another account is never found', async () => {
    const [ada, bob] = [await open(), await open()];
    for (const { create, on } of [ada, bob]) await create('A').then(() => on('activate', 'A', 1));
    await bob.create('B');
    const { activation } = await bob.on('activate', 'B', 2, { name: 'Bob’s' });
    for (const machine of ['Bob’s', machineOf(2), activation.id])
      expect([await ada.keys({ machine }), await bob.keys({ machine })]).toEqual([[], ['B']]);
    expect(await ada.keys({ seats: 'used' })).toEqual(['A']);
  });

  test('isn’t found by a name that was erased, nor with a license that was deleted', async () => {
    const { customer, create, on, keys } = await open();
    await create('A', { customer_email: 'eve@example.com' });
    const { id } = await create('B');
    for (const name of ['A', 'B']) await on('activate', name, 1, { name: 'Laptop' });
    const erased = await customer.asSession('POST', '/api/erase-customer', {
      customer_email: 'eve@example.com',
    });
    expect(outcomeOf(erased)).toBe('200 ok');
    expect(await keys({ machine: 'laptop' })).toEqual(['B']);
    await customer.asSession('DELETE', `/api/v1/licenses/${id}`);
    expect(await keys({ machine: 'laptop' })).toEqual([]);
    expect(await keys({ machine: machineOf(1) })).toEqual(['A']);
  });
});
