import { createScheduledController } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { hourlyHints, type ScheduledHint } from '../../src/system/scheduled.ts';
import { captureLogs } from '../http/security.ts';
import { signUp } from '../support/client.ts';
import { countQueries } from '../support/d1-queries.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { withoutTables } from '../support/gate.ts';
import { doWork, runHourly } from '../support/hourly.ts';
import { insertAccounts } from '../support/insert-accounts.ts';
import { mailsTo, sendMailsBy } from '../support/mails.ts';
import { consume } from '../support/outbox.ts';

beforeEach(async () => {
  useFakeClock();
  await accountsD1.exec('UPDATE accounts SET is_unverified = 0');
});

/** Gates that answer at once, because hundreds of real ones would open more files than a process may. */
const GATE = {
  getByName: () => ({
    announce: async () => ({ refused: null, position: { appliedSeq: 0, appliedAt: null } }),
    apply: async () => {},
    eraseDue: async () => {},
    pull: async () => {},
  }),
};

/** An environment whose queue keeps what it is sent. */
const keepMessages = (changes: object = {}) => {
  const batches: ScheduledHint[][] = [];
  const WEBHOOKS = {
    send: async (hint: ScheduledHint) => void batches.push([hint]),
    sendBatch: async (sent: { body: ScheduledHint }[]) => void batches.push(sent.map(({ body }) => body)),
  };
  return { batches, environment: { ...env, GATE, ...changes, WEBHOOKS } as unknown as Env };
};

const hintOf = (name: string): ScheduledHint => ({ scheduled_work: name, database: 'DB2' });
/** Inserts accounts whose addresses nobody has proved. Returns their addresses. */
const insertUnverified = async (count: number, createdAt: number, unverifiedToldAt: number | null) => {
  const fields = Array.from({ length: count }, () => ({ isUnverified: true, createdAt, unverifiedToldAt }));
  return (await insertAccounts(fields)).map(({ email }) => email);
};
const untold = (count: number) => insertUnverified(count, Date.now() - 6 * DAY_MS, null);
const told = (count: number) => insertUnverified(count, Date.now() - 8 * DAY_MS, Date.now() - 3 * DAY_MS);
const leftToEnd = () =>
  accountsD1
    .prepare(
      'SELECT count(*) AS n FROM accounts WHERE is_unverified = 1 AND unverified_told_at > 0 AND erase_at IS NULL',
    )
    .first<number>('n');

/** Consumes a message and those that it sends. Returns what there is after each of them. */
const consumeAll = async <T>(hint: ScheduledHint, read: () => Promise<T>): Promise<T[]> => {
  const { batches, environment } = keepMessages();
  batches.push([hint]);
  const found: T[] = [];
  for (let next = batches.shift(); next; next = batches.shift()) {
    expect(next).toEqual([hint]);
    await consume(next, environment);
    found.push(await read());
  }
  return found;
};

test('each hour, the queue gets a message for each work of each database', async () => {
  const { batches, environment } = keepMessages();
  await worker.scheduled(createScheduledController(), environment);
  const sent = batches.flat();
  for (const name of ['eraseUnverified', 'sendExpiryEvents', 'backUpNightly'])
    for (const database of ['DB', 'DB2']) expect(sent).toContainEqual({ scheduled_work: name, database });
  expect(new Set(sent.map((hint) => JSON.stringify(hint))).size).toBe(sent.length);
  expect(sent).toEqual(hourlyHints(env));
});

test('a service with many databases sends no more messages at once than a queue takes', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `MORE${2_031 + i}`);
  const { batches, environment } = keepMessages({
    ...Object.fromEntries(names.map((name) => [name, env.DB2])),
    DATABASES: ['DB', ...names.map((name) => `${name}@${name.slice(-4)}-01-01`)].join(', '),
  });
  await worker.scheduled(createScheduledController(), environment);
  expect(batches.flat()).toHaveLength(5 * hourlyHints(env).length);
  expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(100);
});

/** Inserts a key that has expired. */
const insertKey = (accountId: string) =>
  accountsD1
    .prepare(
      `INSERT INTO idempotency_keys (account_id, key, request_hash, license_id, created_at) VALUES (?, 'old', 'x', 'x', 1)`,
    )
    .bind(accountId)
    .run();
const countKeys = () => accountsD1.prepare('SELECT count(*) AS n FROM idempotency_keys').first<number>('n');

test('a message does its work in its database, and one that fails is logged and leaves the others', async () => {
  const { accountId } = await signUp();
  await insertKey(accountId);
  await consume({ ...hintOf('pruneIdempotencyKeys'), database: 'DB' });
  await consume(hintOf('pruneBilling'));
  expect(await countKeys()).toBe(1);
  const log = captureLogs();
  const result = await withoutTables(['audit_log'], () =>
    consume([hintOf('pruneAuditLog'), hintOf('pruneIdempotencyKeys')]),
  );
  expect(log.stop()).toContain('"event":"scheduled_work_failed","database":"DB2","work":"pruneAuditLog"');
  expect(result.explicitAcks).toHaveLength(2);
  expect(await countKeys()).toBe(0);
});

test('the queue hands a message to the work', async () => {
  const { accountId } = await signUp();
  await insertKey(accountId);
  await env.WEBHOOKS.sendBatch([{ body: hintOf('pruneIdempotencyKeys') }]);
  await expect.poll(countKeys).toBe(0);
});

test('a message that only another release knows is dropped, and logged', async () => {
  for (const hint of [hintOf('constructor'), { ...hintOf('pruneBilling'), database: 'DB9' }]) {
    const log = captureLogs();
    expect((await consume(hint)).explicitAcks).toHaveLength(1);
    expect(log.stop()).toContain('"event":"scheduled_work_failed"');
  }
});

test('accounts beyond what a message ends are ended by further ones', async () => {
  await told(90);
  expect(await consumeAll(hintOf('eraseUnverified'), leftToEnd)).toEqual([50, 10, 0]);
});

test('accounts that can’t be told, however many, get no further message', async () => {
  const emails = await untold(60);
  const restore = sendMailsBy(() => Promise.reject(new Error('The mail service is down.')));
  captureLogs();
  const mails = async () => emails.flatMap(mailsTo).length;
  await withoutTables(['held_notices'], async () => {
    expect(await consumeAll(hintOf('tellUnverified'), async () => 0)).toEqual([0]);
  });
  restore();
  vi.restoreAllMocks();
  expect(await consumeAll(hintOf('tellUnverified'), mails)).toEqual([50, 60]);
});

/** As if the accounts with these addresses had far more licenses than they may. */
const fill = (emails: string[]) =>
  accountsD1
    .prepare(
      `INSERT INTO license_totals (account_id, licenses, bytes)
       SELECT id, 1000000, 0 FROM accounts WHERE email IN (SELECT value FROM json_each(?))`,
    )
    .bind(JSON.stringify(emails))
    .run();

test('owners are told of their limits page by page, each page once an hour', async () => {
  const emails = await untold(30);
  await fill(emails);
  const mails = async () => emails.flatMap(mailsTo).length;
  expect(await consumeAll(hintOf('tellOfNearlyFull'), mails)).toEqual([25, 25]);
  expect(await consumeAll(hintOf('tellOfNearlyFull'), mails)).toEqual([30]);
});

test('a message that comes twice at once is worked on once', async () => {
  const emails = await untold(5);
  await Promise.all([doWork('tellUnverified'), doWork('tellUnverified')]);
  expect(emails.map((email) => mailsTo(email).length)).toEqual(emails.map(() => 1));
});

/** A turn that another consumer has begun. */
const beginTurn = (untilMs: number) =>
  accountsD1
    .prepare("INSERT OR REPLACE INTO scheduled_positions (work, position) VALUES ('turn_tellUnverified', ?)")
    .bind(String(untilMs))
    .run();

test('a work that has died is done again once its turn is over', async () => {
  const [email = ''] = await untold(1);
  // Also a turn that was begun by a clock that is ahead.
  await beginTurn(Date.now() + 15 * 60_000 + 5);
  await runHourly();
  expect(mailsTo(email)).toHaveLength(0);
  await beginTurn(Date.now() + 60_000);
  await runHourly();
  expect(mailsTo(email)).toHaveLength(0);
  vi.advanceTimersByTime(60_000);
  await runHourly();
  expect(mailsTo(email)).toHaveLength(1);
});

/** Lets the plans of some accounts end within the day. */
const endPlans = async (emails: string[]) => {
  const isTheirs = 'email IN (SELECT value FROM json_each(?))';
  const json = JSON.stringify(emails);
  await accountsD1
    .prepare(`UPDATE accounts SET is_unverified = 0, plan = 'pro', plan_until = ? WHERE ${isTheirs}`)
    .bind(Date.now() + DAY_MS / 2, json)
    .run();
  await accountsD1
    .prepare(
      `INSERT INTO subscriptions
         (id, account_id, provider, provider_ref, plan, status, period_start, period_end, cancelled_at, ends_at, created_at, updated_at)
       SELECT 'sub_' || id, id, 'sandbox', id, 'pro', 'cancelled', 1, plan_until, 1, plan_until, 1, 1
       FROM accounts WHERE ${isTheirs}`,
    )
    .bind(json)
    .run();
};

test('no message takes nearly as many queries as D1 allows, however many accounts are due', async () => {
  await fill(await untold(120));
  await told(120);
  await endPlans(await untold(60));
  await firstD1.exec('UPDATE users SET copy_due_at = 1');
  const queries = new Map<string, number>();
  const { environment: kept } = keepMessages();
  for (const hint of hourlyHints(env))
    queries.set(
      `${hint.scheduled_work} in ${hint.database}`,
      await countQueries((environment) =>
        consume(hint, { ...environment, GATE: kept.GATE, WEBHOOKS: kept.WEBHOOKS }),
      ),
    );
  // Those that were just told are not due.
  expect(await leftToEnd()).toBe(80 + 50);
  expect(queries.get('copyDueUsers in DB')).toBeGreaterThan(400);
  expect(queries.get('tellOfEndingPlans in DB2')).toBeGreaterThan(250);
  expect(queries.get('tellOfNearlyFull in DB2')).toBeGreaterThan(100);
  expect([...queries].filter(([, count]) => count > 800)).toEqual([]);
});
