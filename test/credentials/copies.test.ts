import { beforeEach, expect, test, vi } from 'vitest';
import { userTokens } from '../../src/db/schema.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { copyUser } from '../../src/users/copy.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { type Account, outcomeOf, register, signUp } from '../support/client.ts';
import { accountsD1, ctxOf, firstD1, publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { withoutTables } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { asVisitor, withToken } from '../support/sign-in.ts';

// The user is in the first database, and the account, which has a copy of the user's address, in another.

beforeEach(() => {
  useFakeClock();
});

const runAnHourLater = async () => {
  vi.advanceTimersByTime(HOUR_MS);
  await runHourly();
};

type Purpose = 'verify_email' | 'change_email' | 'restore_email' | 'reset_password';

const tokenFor = async ({ accountId }: Account, purpose: Purpose, email: string) => {
  const { token, row } = newUserToken(publicCtx, accountId, purpose, email);
  await publicCtx.firstDb.insert(userTokens).values(row);
  return token;
};

/** The account's database fails between the two commits of the work, which still succeeds. */
const halfway = async (work: () => ReturnType<typeof asVisitor>) => {
  const answer = await withoutTables(['feed'], work);
  expect(outcomeOf(answer)).toBe('200 ok');
};

const copyOf = ({ accountId }: Account) =>
  accountsD1.prepare('SELECT email, is_unverified FROM accounts WHERE id = ?').bind(accountId).first();
const dueOf = ({ accountId }: Account) =>
  firstD1.prepare('SELECT copy_due_at FROM users WHERE account_id = ?').bind(accountId).first('copy_due_at');

test('a change of the address that fails halfway reaches the licenses, though nobody looks at the account', async () => {
  const ada = await signUp();
  const email = `new-${ada.email}`;
  const token = await tokenFor(ada, 'change_email', email);
  await halfway(() => asVisitor('/api/verify-email', { token, password: ada.password }));
  expect(await copyOf(ada)).toEqual({ email: ada.email, is_unverified: 1 });
  // It fails again, and is tried again.
  await withoutTables(['feed'], runAnHourLater);
  expect((await copyOf(ada))?.['email']).toBe(ada.email);
  await runAnHourLater();
  expect((await ada.asKey('POST', '/api/v1/licenses/create', {})).body.customer_email).toBe(email);
  expect(await dueOf(ada)).toBe(null);
});

test.for([
  ['of an address', 'verify_email'],
  ['by a new password', 'reset_password'],
] as const)('a proof $0 that fails halfway reaches the account', async ([, purpose]) => {
  // Without an API key, which a first proof by a new password would end in the account's database.
  const ada = await register();
  const token = await tokenFor(ada, purpose, ada.email);
  await halfway(() =>
    purpose === 'verify_email'
      ? asVisitor('/api/verify-email', { token, password: ada.password })
      : asVisitor('/api/reset-password', { token, password: 'a new horse battery' }),
  );
  await runAnHourLater();
  expect(await copyOf(ada)).toEqual({ email: ada.email, is_unverified: 0 });
});

test('an address that is taken back halfway reaches the account', async () => {
  // Without an API key, which would have to end first.
  const ada = await register();
  const verify = await tokenFor(ada, 'change_email', `thief-${ada.email}`);
  await asVisitor('/api/verify-email', { token: verify, password: ada.password });
  const token = await tokenFor(ada, 'restore_email', ada.email);
  await halfway(() => asVisitor('/api/restore-email', { token }));
  expect((await copyOf(ada))?.['email']).toBe(`thief-${ada.email}`);
  await runAnHourLater();
  expect((await copyOf(ada))?.['email']).toBe(ada.email);
});

test('a copy that comes late doesn’t replace a newer one', async () => {
  const ada = await signUp();
  const newer = `newer-${ada.email}`;
  const update = accountsD1.prepare('UPDATE accounts SET email = ?, user_version = 2 WHERE id = ?');
  await update.bind(newer, ada.accountId).run();
  await copyUser(ctxOf(ada.accountId));
  expect((await copyOf(ada))?.['email']).toBe(newer);
});

test('a copy that succeeds at once leaves nothing to do', async () => {
  const ada = await signUp();
  const token = await tokenFor(ada, 'change_email', `new-${ada.email}`);
  await withToken(ada.token, 'POST', '/api/verify-email', { token });
  expect([(await copyOf(ada))?.['email'], await dueOf(ada)]).toEqual([`new-${ada.email}`, null]);
});
