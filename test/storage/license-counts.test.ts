import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { emptyStorage } from '../support/empty-storage.ts';

test('license counts by the last day of suspended and revoked licenses become one count for each status', async () => {
  await emptyStorage();
  const { DB: db, MIGRATIONS: migrations } = env;
  const isLater = ({ name }: { name: string }) => name >= '0008_license_counts.sql';
  await applyD1Migrations(
    db,
    migrations.filter((migration) => !isLater(migration)),
  );
  const insert = db.prepare(
    `INSERT INTO licenses (account_id, id, license_key, status, customer_email, expires_at, metadata, created_at, updated_at)
     SELECT 'acct_1', 'lic_' || key, key, value ->> 0, 'grace@example.com', value ->> 1, '{}', 0, 0 FROM json_each(?)`,
  );
  const stored = [
    ['active', '2027-03-10'],
    ['active', null],
    ['suspended', '2027-03-10'],
    ['suspended', '2027-03-11'],
    ['suspended', null],
    ['revoked', '2027-03-10'],
  ];
  await db.batch([
    db.prepare(
      "INSERT INTO accounts (id, email, plan, created_at) VALUES ('acct_1', 'ada@example.com', 'free', 0)",
    ),
    insert.bind(JSON.stringify(stored)),
  ]);
  const counts = async () =>
    (await db.prepare('SELECT status, expires_at, licenses FROM license_counts').raw()).map((row) =>
      row.join(' '),
    );
  expect(await counts()).toHaveLength(stored.length);
  await applyD1Migrations(db, migrations);
  expect((await counts()).toSorted()).toEqual([
    'active  1',
    'active 2027-03-10 1',
    'revoked  1',
    'suspended  3',
  ]);
  await db.exec("UPDATE licenses SET status = 'active' WHERE id IN ('lic_2', 'lic_4')");
  await db.exec("DELETE FROM licenses WHERE status = 'suspended'");
  expect((await counts()).toSorted()).toEqual(['active  2', 'active 2027-03-10 2', 'revoked  1']);
});
