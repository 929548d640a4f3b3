import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import type { Part } from '../../../src/gate/moving/place.ts';
import { isoTime } from '../../../src/shared/rules/dates.ts';
import { openLicense } from '../../support/activations.ts';
import { signUp } from '../../support/client.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate } from '../../support/gate.ts';
import { arrive, gateIn, killGate, move, RETRY_MS } from '../../support/moving.ts';
import { waitUntil } from '../../support/wait-until.ts';

// What happens at each step of a move.

afterEach(() => {
  vi.restoreAllMocks();
});

/** Calls `onStep` before and after each message of a move, with the name of the step. */
const watchMessages = (onStep: (step: string) => Promise<void>) => {
  const original = Reflect.get(AccountGate.prototype, 'receive');
  let isCopied = false;
  const spy = vi.spyOn(
    AccountGate.prototype as unknown as Record<'receive', (part: Part) => unknown>,
    'receive',
  );
  spy.mockImplementation(async function (this: AccountGate, part) {
    const { schema, tables = [], values } = part;
    const names = tables.map(({ table }) => table).join();
    const step = schema ? 'schema' : values ? 'last' : isCopied ? 'changes' : names;
    await onStep(`before ${step}`);
    original.call(this, part);
    isCopied ||= step === 'storage_version';
    await onStep(`after ${step}`);
  });
};

const exec = (accountId: string, query: string) =>
  runInDurableObject(gateIn(accountId, 1), (_gate, { storage }) => {
    storage.sql.exec(query);
  });

const addRows = (accountId: string, count: number) =>
  exec(
    accountId,
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO seat_refusals SELECT 'lic_' || i, i FROM n`,
  );

const rowsIn = (accountId: string, epoch: number) =>
  runInDurableObject(gateIn(accountId, epoch), (_gate, { storage }) =>
    storage.sql.exec('SELECT * FROM seat_refusals ORDER BY license_id').toArray(),
  );

test.each([1, 2])(
  'killing object %s of a move at each of its steps loses no row and no call',
  async (epoch) => {
    useFakeClock();
    const { customer, license, on } = await openLicense({ max_activations: 1 });
    const { accountId } = customer;
    await on('activate', 1);
    await addRows(accountId, 2_100);
    const killed = new Set<string>();
    watchMessages(async (step) => {
      if (killed.has(step)) return;
      killed.add(step);
      // More rows change while the last tables are copied, so that they need a message before the last one.
      if (step === 'before storage_version') await exec(accountId, 'UPDATE seat_refusals SET at_ms = -at_ms');
      await killGate(accountId, epoch);
    });
    await gate(accountId).startMove('oc');
    await killGate(accountId, epoch);
    const pull = vi.spyOn(AccountGate.prototype, 'pull');
    // Alarms of killed objects fail.
    const runAlarm = () => {
      // Kills in a row delay the next attempt by at most this.
      vi.advanceTimersByTime(5 * 60_000);
      return runDurableObjectAlarm(gateIn(accountId, 1)).catch(() => {});
    };
    await waitUntil(runAlarm, () => pull.mock.calls.length > 0);
    await killGate(accountId, epoch);
    const announced = runDurableObjectAlarm(gateIn(accountId, 2)).catch(() => {});
    const regionOf = () =>
      accountsD1
        .prepare('SELECT home_region FROM accounts WHERE id = ?')
        .bind(accountId)
        .first('home_region');
    await waitUntil(regionOf, (region) => region === 'oc');
    await killGate(accountId, epoch);
    await announced;
    await arrive(accountId, 2, { passMs: RETRY_MS });
    const steps = ['schema', 'activations', 'keys', 'seat_refusals', 'storage_version', 'changes', 'last'];
    expect([...killed]).toEqual(
      expect.arrayContaining(steps.flatMap((step) => [`before ${step}`, `after ${step}`])),
    );
    const rows = await rowsIn(accountId, 2);
    expect(rows).toHaveLength(2_100);
    expect(rows).toEqual(await rowsIn(accountId, 1));
    expect(await on('activate', 2)).toMatchObject({ code: 'no_seat', api_usage: 2 });
    const { status, body } = await customer.verify(license.license_key);
    expect([status, body.api_usage]).toEqual([200, 3]);
  },
);

test('an account moves although hundreds of rows change during each message', async () => {
  const { accountId } = await signUp();
  await addRows(accountId, 300);
  watchMessages(async (step) => {
    if (step.startsWith('after') && step !== 'after last')
      await exec(accountId, 'UPDATE seat_refusals SET at_ms = at_ms + 1');
  });
  await move(accountId, 'oc');
  expect(await rowsIn(accountId, 2)).toEqual(await rowsIn(accountId, 1));
});

test('an account moves although a table grows during each message', async () => {
  const { accountId } = await signUp();
  await addRows(accountId, 300);
  let added = 0;
  watchMessages(async (step) => {
    if (step.startsWith('after') && step !== 'after last')
      await exec(
        accountId,
        `INSERT INTO seat_refusals VALUES ('lic_later_${(added++).toString().padStart(6, '0')}', 1)`,
      );
  });
  await move(accountId, 'oc');
  expect(await rowsIn(accountId, 2)).toEqual(await rowsIn(accountId, 1));
});

test('heartbeats renew a floating lease during a move, and no other machine gets the seat before it ends', async () => {
  useFakeClock();
  const { customer, on } = await openLicense({ max_activations: 1, lease_seconds: 60 });
  const { accountId } = customer;
  const { activation } = await on('activate', 1);
  const beat = async () => {
    vi.advanceTimersByTime(30_000);
    expect(await on('heartbeat', 1)).toMatchObject({
      code: 'valid',
      activation: { id: activation.id, lease_until: isoTime(Date.now() + 60_000) },
    });
  };
  const steps: string[] = [];
  watchMessages(async (step) => {
    steps.push(step);
    // During the last message, calls wait.
    if (!step.endsWith('last')) await beat();
  });
  await gate(accountId).startMove('oc');
  await arrive(accountId, 2);
  expect(steps.at(-1)).toBe('after last');
  vi.advanceTimersByTime(59_999);
  expect(await on('activate', 2)).toMatchObject({ code: 'no_seat' });
  expect(await on('heartbeat', 1)).toMatchObject({ code: 'valid', activation: { id: activation.id } });
  vi.advanceTimersByTime(60_000);
  expect(await on('activate', 2)).toMatchObject({ code: 'valid' });
});

test('the last rows move in several messages if they are too long for one', async () => {
  const { accountId } = await signUp();
  let isFilled = false;
  watchMessages(async (step) => {
    if (isFilled || step !== 'after storage_version') return;
    isFilled = true;
    await exec(
      accountId,
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
       INSERT INTO seat_refusals SELECT printf('%080000d', i), i FROM n`,
    );
  });
  await move(accountId, 'oc');
  expect(await rowsIn(accountId, 2)).toHaveLength(20);
});
