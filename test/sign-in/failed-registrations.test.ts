import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { call, freshAddress, outcomeOf, PASSWORD, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { finishErasure } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { findInD1, findLeftovers } from '../support/leftovers.ts';
import { mailsTo } from '../support/mails.ts';

const NAME = 'Grace Hopper';

let people = 0;
const newAddress = () => `grace-${++people}@registrations.example`;

const register = (email: string) =>
  call('POST', '/api/register', {
    body: { email, password: PASSWORD, name: NAME },
    headers: { 'cf-connecting-ip': freshAddress() },
  });

type Batch = D1Database['batch'];

/** Calls `instead` in place of the batch that commits the user of a registration. */
const replaceUserCommit = (instead: (commit: () => ReturnType<Batch>) => ReturnType<Batch>) => {
  const prototype = Object.getPrototypeOf(env.DB) as D1Database;
  const batch = Reflect.get(prototype, 'batch');
  const prepare = Reflect.get(prototype, 'prepare');
  let isNext = false;
  const prepares = vi.spyOn(prototype, 'prepare').mockImplementation(function (this: D1Database, text) {
    isNext ||= text.startsWith('insert into "users"');
    return prepare.call(this, text);
  });
  const batches = vi.spyOn(prototype, 'batch').mockImplementation(function (this: D1Database, statements) {
    const commit = () => batch.call(this, statements);
    if (!isNext) return commit();
    stop();
    return instead(commit);
  });
  const stop = () => {
    prepares.mockRestore();
    batches.mockRestore();
  };
  onTestFinished(stop);
};

const accountOf = async (email: string) =>
  accountsD1
    .prepare('SELECT id, user_due_at FROM accounts WHERE email = ?')
    .bind(email)
    .first<{ id: string; user_due_at: number | null }>();

const lost = () => Promise.reject(new Error('D1_ERROR: Network connection lost.'));

/** An hour later. */
const afterAnHour = async () => {
  vi.setSystemTime(Date.now() + HOUR_MS);
  await runHourly();
};

test('a registration whose user was never committed leaves nothing, and its address gets no email', async () => {
  useFakeClock();
  const email = newAddress();
  replaceUserCommit(lost);
  expect((await register(email)).status).toBe(503);
  const account = await accountOf(email);
  expect(account?.user_due_at).toBe(Date.now() + HOUR_MS);
  const id = account?.id ?? '';

  await afterAnHour();
  await finishErasure(id);
  expect(await findLeftovers(id, [id, email, NAME])).toEqual([]);
  expect(mailsTo(email)).toEqual([]);
});

test('a conflict whose account could not be deleted at once leaves nothing of the second person', async () => {
  useFakeClock();
  const { email } = await signUp();
  await accountsD1
    .prepare("CREATE TRIGGER stuck BEFORE DELETE ON accounts BEGIN SELECT RAISE(ABORT, 'stuck'); END")
    .run();
  expect((await register(email)).status).toBe(503);
  await accountsD1.prepare('DROP TRIGGER stuck').run();
  expect(await findInD1(accountsD1, [NAME])).toEqual(['accounts']);
  const { id } = (await accountsD1
    .prepare('SELECT id FROM accounts WHERE name = ?')
    .bind(NAME)
    .first<{ id: string }>()) ?? { id: '' };

  await afterAnHour();
  await finishErasure(id);
  expect(await findLeftovers(id, [id, NAME])).toEqual([]);
});

test('a user that is committed after the account was erased is refused, and the address is free', async () => {
  useFakeClock();
  const email = newAddress();
  let id = '';
  replaceUserCommit(async (commit) => {
    id = (await accountOf(email))?.id ?? '';
    await afterAnHour();
    await finishErasure(id);
    return commit();
  });
  expect(outcomeOf(await register(email))).toBe('503 unavailable');
  expect(await findLeftovers(id, [id, email, NAME])).toEqual([]);
  expect((await register(email)).status).toBe(201);
});

test('an account whose user was committed stays, although the answer or the note of it was lost', async () => {
  useFakeClock();
  const [unanswered, unnoted] = [newAddress(), newAddress()];
  replaceUserCommit(async (commit) => {
    await commit();
    return lost();
  });
  expect((await register(unanswered)).status).toBe(503);
  await accountsD1
    .prepare(
      `CREATE TRIGGER stuck BEFORE UPDATE OF user_due_at ON accounts WHEN new.user_due_at IS NULL
       BEGIN SELECT RAISE(ABORT, 'stuck'); END`,
    )
    .run();
  expect((await register(unnoted)).status).toBe(201);
  await accountsD1.prepare('DROP TRIGGER stuck').run();
  for (const email of [unanswered, unnoted])
    expect((await accountOf(email))?.user_due_at).toBe(Date.now() + HOUR_MS);

  await afterAnHour();
  for (const email of [unanswered, unnoted]) {
    expect((await accountOf(email))?.user_due_at).toBeNull();
    const { status, body } = await call('POST', '/api/login', { body: { email, password: PASSWORD } });
    expect([status, body.account.name]).toEqual([200, NAME]);
  }
});

test('the gate looks for the user itself, should it be woken without reason', async () => {
  useFakeClock();
  const ada = await signUp();
  await accountsD1.prepare('UPDATE accounts SET user_due_at = 1 WHERE id = ?').bind(ada.accountId).run();
  await env.GATE.getByName(ada.accountId).eraseDue();
  await finishErasure(ada.accountId);
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  expect((await accountOf(ada.email))?.user_due_at).toBeNull();
});

test('an upgrade finds the accounts without a user that earlier releases have left', async () => {
  const ada = await signUp();
  const insert = "INSERT INTO accounts (id, email, created_at) VALUES ('acct_left', 'left@example.com', 1)";
  const dueOf = (d1: D1Database) =>
    d1.prepare('SELECT id FROM accounts WHERE user_due_at IS NOT NULL').all<{ id: string }>();
  const upgrade = env.MIGRATIONS.find(({ name }) => name.endsWith('user_due.sql'))?.queries.at(-1) ?? '';
  for (const d1 of [firstD1, accountsD1]) {
    await d1.prepare(insert).run();
    await d1.prepare(upgrade).run();
  }
  expect((await dueOf(firstD1)).results).toEqual([{ id: 'acct_left' }]);
  // This database has none of its accounts' users, so it can't tell.
  expect((await dueOf(accountsD1)).results).toEqual([]);
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
});
