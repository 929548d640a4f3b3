import { env } from 'cloudflare:workers';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { AccountGate, GateBranch, WebhookOutbox } from '../../src/index.ts';
import { call, type Customer, outcomeOf } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { finishErasure, progressOf, runErasureAlarm } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, kill } from '../support/gate.ts';
import { findLeftovers } from '../support/leftovers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithLicense } from '../support/worlds.ts';

// What the erasure of an account does, step by step, and what may come between two steps.

interface Original {
  target: object;
  method: string;
}

const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as object;
const STEPS: Original[] = [
  { target: Object.getPrototypeOf(env.DB) as object, method: 'batch' },
  ...['all', 'raw', 'run'].map((method) => ({ target: statement, method })),
  ...[AccountGate, GateBranch, WebhookOutbox].map(({ prototype }) => ({
    target: prototype,
    method: 'erase',
  })),
];

/** Calls `between` after each step, until the test ends: a query of D1, or the erasure of another object. */
const afterEachStep = (between: (number: number) => Promise<void>) => {
  let number = 0;
  const spies = STEPS.map(({ target, method }) => {
    const original = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
    return vi.spyOn(target as Record<string, () => unknown>, method).mockImplementation(async function (
      this: unknown,
      ...args: unknown[]
    ) {
      const result = await original.apply(this, args);
      await between(++number);
      return result;
    });
  });
  const stop = () => spies.forEach((spy) => spy.mockRestore());
  onTestFinished(stop);
  return stop;
};

let sellers = 0;

/** A seller with a license of a customer whom no other test has. */
const sellerWithCustomer = async () => {
  const customer = `ann@crashes-${++sellers}.example`;
  const world = await sellerWithLicense({ customer_email: customer });
  return { ...world, texts: [world.ada.accountId, world.ada.email, customer] };
};

const requested = async () => {
  const world = await sellerWithCustomer();
  const { ada } = world;
  const confirmed = { current_password: ada.password, confirm: ada.email };
  const { status, body } = await ada.asSession('DELETE', '/api/account', confirmed);
  expect(status).toBe(202);
  return { ...world, dueMs: Date.parse(body.erased_by) };
};

const logIn = ({ email, password }: Customer) => call('POST', '/api/login', { body: { email, password } });

const hasUser = async ({ accountId }: Customer) =>
  (await firstD1.prepare('SELECT 1 FROM users WHERE account_id = ?').bind(accountId).first()) !== null;

const hasSession = async ({ accountId }: Customer) =>
  (await firstD1.prepare('SELECT 1 FROM sessions WHERE account_id = ?').bind(accountId).first()) !== null;

/** Runs the gate's alarm, with a crash after a step. Returns false if it has not so many steps. */
const crashAfter = async ({ accountId }: Customer, step: number): Promise<boolean> => {
  let hasCrashed = false;
  const stop = afterEachStep(async (number) => {
    if (number !== step) return;
    hasCrashed = true;
    await kill(accountId);
    throw new Error('The gate has crashed.');
  });
  await runErasureAlarm(accountId);
  stop();
  return hasCrashed;
};

beforeAll(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

test('an erasure that crashes after any of its steps is completed, and meanwhile nobody uses what is left', async () => {
  useFakeClock();
  const { ada, license_key, texts } = await requested();
  let crashes = 0;
  // Each run of the alarm crashes one step later than the last one, until one comes to its end.
  for (let step = 1; (await progressOf(ada.accountId).catch(() => 'restarts')) !== null;) {
    const hasCrashed = await crashAfter(ada, step);
    step = hasCrashed ? step + 1 : 1;
    crashes += Number(hasCrashed);
    expect(outcomeOf(await ada.verify(license_key))).toBe('403 api_key_invalid');
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('401 invalid_session');
  }
  expect(crashes).toBeGreaterThan(15);
  expect(await findLeftovers(ada.accountId, texts)).toEqual([]);
  expect(outcomeOf(await logIn(ada))).toBe('401 invalid_credentials');
});

test('whoever signs in while the gate ends the user is refused, or keeps all of the account', async () => {
  useFakeClock();
  for (let step = 1; step <= 4; step++) {
    const { ada, license_key, dueMs } = await requested();
    vi.setSystemTime(dueMs);
    let isReached = false;
    const stop = afterEachStep(async (number) => {
      isReached ||= number === step;
      await scheduler.wait(1);
    });
    const erasing = runErasureAlarm(ada.accountId);
    await waitUntil(() => isReached);
    const signedIn = await logIn(ada);
    await erasing;
    stop();
    await finishErasure(ada.accountId);
    const left = [await hasUser(ada), outcomeOf(await ada.verify(license_key))];
    expect(left).toEqual(signedIn.status === 200 ? [true, '200 ok'] : [false, '403 api_key_invalid']);
  }
});

/** Runs `work` in the place of the first batch that comes once the gate has been told of a change. */
const beforeAnnouncedBatch = (work: () => Promise<unknown>) => {
  let isAnnounced = false;
  const announce = Reflect.get(AccountGate.prototype, 'announce');
  const announced = vi.spyOn(AccountGate.prototype, 'announce').mockImplementation(function (
    this: AccountGate,
    ...args
  ) {
    isAnnounced = true;
    return announce.apply(this, args);
  });
  const prototype = Object.getPrototypeOf(env.DB) as D1Database;
  const batch = Reflect.get(prototype, 'batch');
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const batches = vi.spyOn(prototype, 'batch').mockImplementation(async function (
    this: D1Database,
    statements,
  ) {
    if (isAnnounced) {
      batches.mockRestore();
      announced.mockRestore();
      await work();
    }
    return batch.call(this, statements);
  });
};

test('a sign-in whose commit is slow keeps the account, although its time comes meanwhile', async () => {
  useFakeClock();
  const { ada, license_key, dueMs } = await requested();
  vi.setSystemTime(dueMs - 1);
  beforeAnnouncedBatch(async () => {
    await gate(ada.accountId).eraseDue();
    await runErasureAlarm(ada.accountId);
    expect(await progressOf(ada.accountId)).not.toBeNull();
    expect(await hasUser(ada)).toBe(true);
  });
  expect((await logIn(ada)).status).toBe(200);
  await finishErasure(ada.accountId);
  expect((await ada.verify(license_key)).body.valid).toBe(true);
  expect(await hasUser(ada)).toBe(true);
});

test('a sign-in that has its session, but no answer yet, is refused once the user is gone', async () => {
  useFakeClock();
  const { ada, dueMs, texts } = await requested();
  vi.setSystemTime(dueMs);
  const prototype = Object.getPrototypeOf(env.DB) as D1Database;
  const batch = Reflect.get(prototype, 'batch');
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const spy = vi.spyOn(prototype, 'batch').mockImplementation(async function (this: D1Database, statements) {
    const result = await batch.call(this, statements);
    // The mail about the request may still be under way.
    if (!(await hasSession(ada))) return result;
    spy.mockRestore();
    await runErasureAlarm(ada.accountId);
    return result;
  });
  expect((await logIn(ada)).status).toBe(503);
  expect(await hasUser(ada)).toBe(false);
  await finishErasure(ada.accountId);
  expect(await findLeftovers(ada.accountId, texts)).toEqual([]);
});

test('an account that an earlier release has half erased is erased', async () => {
  useFakeClock();
  const { ada, texts } = await sellerWithCustomer();
  await firstD1.prepare('DELETE FROM sessions WHERE account_id = ?').bind(ada.accountId).run();
  await firstD1.prepare('DELETE FROM users WHERE account_id = ?').bind(ada.accountId).run();
  await accountsD1
    .prepare("UPDATE accounts SET erase_at = 1, email = '' WHERE id = ?")
    .bind(ada.accountId)
    .run();
  await gate(ada.accountId).eraseDue();
  await finishErasure(ada.accountId);
  expect(await findLeftovers(ada.accountId, texts)).toEqual([]);
});

test('the hourly work finds an account again whose erasure has begun, and goes on with it', async () => {
  useFakeClock();
  const { ada, dueMs, texts } = await requested();
  vi.setSystemTime(dueMs);
  await runErasureAlarm(ada.accountId);
  expect(await hasUser(ada)).toBe(false);
  await gate(ada.accountId).eraseDue();
  await finishErasure(ada.accountId);
  expect(await findLeftovers(ada.accountId, texts)).toEqual([]);
});
