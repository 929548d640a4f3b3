import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { emptyStorage } from '../support/empty-storage.ts';

test('an overdue subscription keeps its grace period, and its payments get to know it', async () => {
  await emptyStorage();
  const { DB: db, MIGRATIONS: migrations } = env;
  await applyD1Migrations(
    db,
    migrations.filter(({ name }) => name < '0014_facts_of_money.sql'),
  );
  const payment = db.prepare(
    `INSERT INTO payments (id, account_id, provider, plan, status, amount, currency, created_at, paid_at)
     VALUES (?, 'acct_1', 'stripe', 'pro', ?, 2900, 'usd', ?, ?)`,
  );
  await db.batch([
    db.prepare(
      `INSERT INTO accounts (id, email, plan, plan_until, created_at) VALUES ('acct_1', 'ada@example.com', 'pro', ${10 * DAY_MS}, 0)`,
    ),
    db.prepare(
      `INSERT INTO subscriptions (id, account_id, provider, provider_ref, plan, status, period_start, period_end, created_at, updated_at)
       VALUES ('sub_1', 'acct_1', 'stripe', 'sub_x', 'pro', 'past_due', 0, ${30 * DAY_MS}, 100, 100)`,
    ),
    payment.bind('pay_1', 'paid', 1, 2),
    payment.bind('pay_2', 'paid', 90, 100),
    payment.bind('pay_3', 'paid', 200, 200),
    payment.bind('pay_4', 'pending', 300, null),
  ]);
  await applyD1Migrations(db, migrations);
  expect(await db.prepare('SELECT failed_at FROM subscriptions').first('failed_at')).toBe(3 * DAY_MS);
  expect(await db.prepare('SELECT id, subscription_id, period_end FROM payments ORDER BY id').raw()).toEqual([
    ['pay_1', null, null],
    ['pay_2', 'sub_1', null],
    ['pay_3', 'sub_1', 30 * DAY_MS],
    ['pay_4', null, null],
  ]);
  expect(await db.prepare('SELECT count(refund_due_at) AS due FROM payments').first('due')).toBe(0);
});
