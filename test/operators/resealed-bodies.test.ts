import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import { countStores, resealStores } from '../../src/operators/reseal-stores.ts';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { openShop, paid } from '../stores/shop.ts';

/** A message that a store has sent may have a megabyte. */
const BODIES_AT_ONCE = 4;

test('the bodies of many messages are sealed again, and few of them are read at once', async () => {
  const { ada, notify } = await openShop();
  for (let order = 1; order <= 11; order++) await notify(paid(String(order)));
  const SEALING_KEYS = `k2:${btoa('a-second-sealing-key-of-32-bytes')},${env.SEALING_KEYS}`;
  const { sealing } = settingsOf({ ...env, SEALING_KEYS });
  const db = databaseOf(env, ada.accountId);
  expect(await countStores(db, sealing)).toBe(12);
  const statements = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement;
  const read = vi.spyOn(statements, 'raw');
  await resealStores(db, sealing);
  const answers = (await Promise.all(read.mock.results.map(({ value }) => value))) as unknown[][][];
  read.mockRestore();
  const isBody = (value: unknown) => typeof value === 'string' && value.startsWith('k1.');
  const bodies = answers.map((rows) => rows.filter((row) => row.some(isBody)).length);
  expect(Math.max(...bodies)).toBe(BODIES_AT_ONCE);
  expect(bodies.reduce((sum, n) => sum + n)).toBe(11);
  expect(await countStores(db, sealing)).toBe(0);
});
