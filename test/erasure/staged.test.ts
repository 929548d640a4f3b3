import { runDurableObjectAlarm } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { restoreBackup } from '../../src/operators/restore.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { backUp, useOperator } from '../support/backup.ts';
import { ctxOf } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { outbox } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithLicense } from '../support/worlds.ts';

// What a restore has staged that didn't come to its end.

useOperator();

const GRACE = { customer_email: 'grace@hopper.example', customer_name: 'Grace Hopper' };
const MACHINE = 'Mainframe of the admiral';
const TEXTS = [...Object.values(GRACE), MACHINE];

const STAGED = [
  'gate 1: restored_activations',
  'gate 1: restored_seat_changes',
  'outbox: restored_event_blocks',
];

/** A seller with a customer, and the lines of a backup. */
const openAccount = async () => {
  const { ada, license_key } = await sellerWithLicense(GRACE);
  const sent = { license_key, fingerprint: 'machine-0001', name: MACHINE };
  await ada.asKey('POST', '/api/v1/licenses/activate', sent);
  await waitUntil(
    () => findLeftovers(ada.accountId, TEXTS),
    (places) => places.includes('outbox: event_blocks'),
  );
  return { ada, lines: (await backUp(ada.accountId)).split('\n') };
};

const restoreLines = (accountId: string, lines: string[]) =>
  restoreBackup(ctxOf(accountId), new Response(lines.join('\n')).body, true);

const findStaged = async (accountId: string) =>
  (await findLeftovers(accountId, TEXTS)).filter((place) => place.includes('restored_'));

test('an erased customer is not in what a restore has staged that was cut off', async () => {
  const { ada, lines } = await openAccount();
  await expect(restoreLines(ada.accountId, lines.slice(0, -1))).rejects.toThrow('cut off');
  expect(await findStaged(ada.accountId)).toEqual(STAGED);
  const erased = await ada.asSession('POST', '/api/erase-customer', { customer_email: GRACE.customer_email });
  expect(erased.status).toBe(200);
  expect(await findLeftovers(ada.accountId, TEXTS)).toEqual([]);
});

test('a restore during which a customer was erased fails, and doesn’t bring them back', async () => {
  const { ada, lines } = await openAccount();
  async function* body() {
    yield new TextEncoder().encode(`${lines.slice(0, -1).join('\n')}\n`);
    await ada.asSession('POST', '/api/erase-customer', { customer_email: GRACE.customer_email });
    yield new TextEncoder().encode(lines.at(-1));
  }
  const stream = body() as unknown as ReadableStream<Uint8Array>;
  await expect(restoreBackup(ctxOf(ada.accountId), stream, true)).rejects.toThrow(
    'Another restore of the account has begun, or something of it was erased. Restore it again.',
  );
  expect(await findLeftovers(ada.accountId, TEXTS)).toEqual([]);
});

test('what a restore has staged that was cut off is deleted a day later', async () => {
  useFakeClock();
  const { ada, lines } = await openAccount();
  await expect(restoreLines(ada.accountId, lines.slice(0, -1))).rejects.toThrow('cut off');
  const runAlarms = async () => {
    for (const object of [gate(ada.accountId), outbox(ada.accountId)]) await runDurableObjectAlarm(object);
    return findStaged(ada.accountId);
  };
  vi.setSystemTime(Date.now() + DAY_MS - 1_000);
  expect(await runAlarms()).toEqual(STAGED);
  vi.setSystemTime(Date.now() + 1_000);
  expect(await runAlarms()).toEqual([]);
});
