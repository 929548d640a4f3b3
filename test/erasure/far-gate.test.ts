import { expect, test, vi } from 'vitest';
import { type Customer, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { finishErasure } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';

/** The way from a gate in Oceania to a database in Europe and back. */
const TRIP_MS = 265;

/** Lets each query take as long as from there. */
const moveFarAway = () => {
  const prototype = Object.getPrototypeOf(accountsD1) as D1Database;
  const prepare = Reflect.get(prototype, 'prepare');
  vi.spyOn(prototype, 'prepare').mockImplementation(function (this: D1Database, text: string) {
    vi.advanceTimersByTime(TRIP_MS);
    return prepare.call(this, text);
  });
};

/** As if the call had been cut off. */
const beginErasure = ({ accountId }: Customer, email: string) =>
  accountsD1
    .prepare(
      "INSERT INTO erasures (account_id, kind, subject, until_ms, created_at) VALUES (?, 'customer', ?, 0, 1)",
    )
    .bind(accountId, email)
    .run();

test('a gate that is far from the database ends an erasure that was cut off', async () => {
  useFakeClock();
  const ada = await signUp();
  await ada.createLicense({
    customer_email: 'grace@example.com',
    metadata: { note: 'for grace@example.com' },
  });
  await beginErasure(ada, 'grace@example.com');
  await beginErasure(ada, 'linus@example.com');
  await runHourly();
  moveFarAway();
  expect(await finishErasure(ada.accountId)).toBeLessThan(10);
  vi.restoreAllMocks();
  const { body } = await ada.asSession('GET', '/api/v1/licenses');
  expect(JSON.stringify(body)).not.toContain('grace');
});
