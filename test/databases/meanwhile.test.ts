import { env } from 'cloudflare:workers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { accountDatabases } from '../../src/db/client.ts';
import { heldNotices } from '../../src/db/schema.ts';
import { accountErased } from '../../src/mail/account-templates.ts';
import { notify, openShop, paid } from '../stores/shop.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { runMove, startMove } from '../support/database-move.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { senderNow, sendMailsBy } from '../support/mails.ts';
import { withOperatorToken } from '../support/operator.ts';
import { freshEmail, sellerWithCustomer, signInByMail } from '../support/portal.ts';
import { sellerWithLicense } from '../support/worlds.ts';

beforeEach(() => {
  onTestFinished(withOperatorToken());
  useFakeClock();
});

/** Moves the account to the step. It goes on at the end of the test, since the hourly work rests meanwhile. */
const moveTo = async (accountId: string, step: string) => {
  await startMove(accountId, 'DB');
  onTestFinished(async () => {
    await runMove(accountId);
  });
  await runMove(accountId, step);
};

test('the audit log lists an entry once while it is in two databases', async () => {
  const { ada } = await sellerWithLicense();
  const list = async () =>
    (await ada.asSession('GET', '/api/audit-log?limit=100')).body.data.map(({ id }: Json) => id) as string[];
  const before = await list();
  await moveTo(ada.accountId, 'comparing');
  // The newest is that of the move.
  const entries = await list();
  expect(entries.slice(1)).toEqual(before);
  const first = await ada.asSession('GET', '/api/audit-log?limit=1');
  const second = await ada.asSession('GET', `/api/audit-log?limit=1&cursor=${first.body.next_cursor}`);
  expect([first.body.data[0].id, second.body.data[0].id]).toEqual(entries.slice(0, 2));
});

test('a store is told when to send its notification again', async () => {
  const { ada, storeId, purchases } = await openShop();
  await moveTo(ada.accountId, 'copying');
  const answer = await notify(storeId, paid('order_1'));
  expect([outcomeOf(answer), answer.headers.get('retry-after')]).toEqual(['503 unavailable', '10']);
  await runMove(ada.accountId);
  expect(outcomeOf(await notify(storeId, paid('order_1')))).toBe('200 ok');
  expect(await purchases()).toHaveLength(1);
});

test('a held notice is sent once, also if an account begins to move while the hourly work sends it', async () => {
  const addresses = ['one@example.com', 'two@example.com'].map((to) => `${crypto.randomUUID()}.${to}`);
  const content = accountErased();
  const rows = addresses.map((email) => ({
    email,
    subject: content.subject,
    accountId: 'acct_x',
    content,
    times: 1,
    dueAt: Date.now() - 1,
  }));
  await accountDatabases(env)[1]?.unfenced.insert(heldNotices).values(rows);
  const sent: string[] = [];
  const send = senderNow();
  const stop = sendMailsBy(async (mail: Json) => {
    if (sent.length === 0)
      await accountsD1.exec(
        "INSERT INTO moved_accounts (id, state, other, changed_at) VALUES ('acct_moving', 'leaving', 'DB', 1)",
      );
    sent.push(mail['to']);
    return send(mail);
  });
  onTestFinished(() => {
    stop();
  });
  const log = vi.spyOn(console, 'error').mockReturnValue();
  await runHourly();
  log.mockRestore();
  await accountsD1.exec("DELETE FROM moved_accounts WHERE id = 'acct_moving'");
  await runHourly();
  expect(sent.filter((to) => addresses.includes(to)).toSorted()).toEqual(addresses.toSorted());
});

/** Statements that insert a row of an account, which other accounts' calls delete once it has expired. */
const EXPIRED: Record<string, string> = {
  idempotency_keys: `(account_id, key, request_hash, license_id, created_at) VALUES (?1, ?1, 'x', 'x', 1)`,
  portal_tokens: `(token_hash, account_id, purpose, email, expires_at) VALUES (?1, ?1, 'sign_in', 'x', 1)`,
  portal_sessions: `(token_hash, account_id, id, email, created_at, expires_at, last_seen_at)
    VALUES (?1, ?1, ?1, 'x', 1, 1, 1)`,
  portal_email_changes: `(account_id, email, id, new_email, expires_at) VALUES (?1, 'x', ?1, 'x', 1)`,
};

const expiredIn = async (d1: D1Database, accountId: string): Promise<string[]> => {
  const tables = Object.keys(EXPIRED);
  const found = await d1.batch(
    tables.map((table) => d1.prepare(`SELECT 1 FROM ${table} WHERE account_id = ?`).bind(accountId)),
  );
  return tables.filter((_table, i) => found[i]?.results.length === 1);
};

test('other accounts’ calls delete no expired rows of an account that moves, in neither database', async () => {
  const { ada } = await sellerWithLicense();
  await accountsD1.batch(
    Object.entries(EXPIRED).map(([table, row]) =>
      accountsD1.prepare(`INSERT INTO ${table} ${row}`).bind(ada.accountId),
    ),
  );
  const tables = Object.keys(EXPIRED);
  // From where Ada moves to, Bob's calls would delete what was copied; Eve's are in the database that Ada leaves.
  const [bob, eve] = [await sellerWithCustomer(), await sellerWithCustomer()];
  await startMove(bob.ada.accountId, 'DB');
  await runMove(bob.ada.accountId);
  await moveTo(ada.accountId, 'comparing');
  for (const { ada: seller, slug, email } of [bob, eve]) {
    const headers = { 'idempotency-key': 'once' };
    expect((await seller.asSession('POST', '/api/v1/licenses/create', {}, headers)).status).toBe(201);
    const { asCustomer } = await signInByMail(slug, email);
    expect(outcomeOf(await asCustomer('POST', '/change-email', { email: freshEmail() }))).toBe('202 ok');
  }
  expect(await expiredIn(accountsD1, ada.accountId)).toEqual(tables);
  expect(await expiredIn(firstD1, ada.accountId)).toEqual(tables);
  expect(await runMove(ada.accountId)).toMatchObject({ database: 'DB', last_move: { problem: null } });
  expect(await expiredIn(firstD1, ada.accountId)).toEqual(tables);
});
