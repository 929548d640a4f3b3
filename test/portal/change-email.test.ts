import { env } from 'cloudflare:workers';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { doWork, runHourly } from '../support/hourly.ts';
import { keepMails, lastMailTo, mailsTo } from '../support/mails.ts';
import { freshEmail, openPortal, signInByApplication, signInWith, tokenIn } from '../support/portal.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { setCountedBytes } from '../support/storage.ts';
import { sellerOn, sellerWithWebhook } from '../support/worlds.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

beforeAll(keepMails);

type Seller = Awaited<ReturnType<typeof sellerOn>>;

const customerOf = async (ada: Seller, licenses: number) => {
  await verifyAddress(ada.accountId);
  const slug = await openPortal(ada);
  const [from, to] = [freshEmail('old'), freshEmail('new')];
  await importAs(ada, toLines(Array.from({ length: licenses }, () => ({ customer_email: from }))));
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: from });
  const count = async (email: string) =>
    accountsD1
      .prepare('SELECT count(*) AS n FROM licenses WHERE account_id = ? AND customer_email = ?')
      .bind(ada.accountId, email)
      .first<number>('n');
  const change = async () => {
    expect(outcomeOf(await asCustomer('POST', '/change-email', { email: to }))).toBe('202 ok');
    const tokenOf = async (email: string) => tokenIn((await lastMailTo(email)).text);
    return { fromToken: await tokenOf(from), toToken: await tokenOf(to) };
  };
  /** Lets both addresses confirm a change. Returns what has become of it. */
  const confirm = async (): Promise<string> => {
    const { fromToken, toToken } = await change();
    await signInWith(slug, { token: fromToken });
    return (await signInWith(slug, { token: toToken })).session.email_change;
  };
  return { slug, from, to, asCustomer, count, change, confirm };
};

test('an address changes once both have confirmed, in either order, and the old one’s sessions end', async () => {
  const { ada } = await sellerWithWebhook();
  for (const isOldFirst of [true, false]) {
    const { slug, from, to, asCustomer, count, change } = await customerOf(ada, 3);
    const { fromToken, toToken } = await change();
    expect([fromToken.slice(0, 4), toToken.slice(0, 4)]).toEqual(['lkc_', 'lkc_']);
    const [first, second] = isOldFirst ? [fromToken, toToken] : [toToken, fromToken];
    const { session } = await signInWith(slug, { token: first });
    expect(session).toMatchObject({ email: isOldFirst ? from : to, email_change: 'waiting' });
    expect([await count(from), await count(to)]).toEqual([3, 0]);
    const done = await signInWith(slug, { token: second });
    expect(done.session.email_change).toBe('done');
    expect([await count(from), await count(to)]).toEqual([0, 3]);
    expect(outcomeOf(await asCustomer('GET', '/licenses'))).toBe('401 portal_session_required');
    const { body } = await ada.asSession('GET', `/api/v1/licenses?customer_email=${to}`);
    const history = await ada.asSession('GET', `/api/v1/licenses/${body.data[0].id}/history`);
    expect(history.body.data[0]).toMatchObject({
      action: 'changed',
      by: { kind: 'customer' },
      changes: [{ field: 'customer_email', from, to }],
    });
  }
  const log = await ada.asSession('GET', '/api/audit-log?action=customer.change_email');
  expect(log.body.data).toMatchObject([
    { actor: { kind: 'customer' }, details: { licenses: 3 } },
    { actor: { kind: 'customer' }, details: { licenses: 3 } },
  ]);
  expect(JSON.stringify(log.body)).not.toContain('@example.com');
});

test('whoever reads the old address’s email never sees what the new address has, whichever confirms last', async () => {
  const ada = await sellerOn('free');
  for (const isOldFirst of [true, false]) {
    const { slug, to, change } = await customerOf(ada, 1);
    const own = await ada.createLicense({ customer_email: to });
    const { fromToken, toToken } = await change();
    const first = await signInWith(slug, { token: isOldFirst ? fromToken : toToken });
    const second = await signInWith(slug, { token: isOldFirst ? toToken : fromToken });
    expect(second.session.email_change).toBe('done');
    const [old, fresh] = isOldFirst ? [first, second] : [second, first];
    expect(outcomeOf(await old.asCustomer('GET', '/licenses'))).toBe('401 portal_session_required');
    expect(outcomeOf(await old.asCustomer('GET', `/licenses/${own.id}/key`))).toBe(
      '401 portal_session_required',
    );
    expect((await fresh.asCustomer('GET', '/licenses')).body.data).toHaveLength(2);
  }
});

test('the old address alone, the new one alone, and an earlier request change nothing', async () => {
  const ada = await sellerOn('free');
  const { slug, from, to, asCustomer, count, change } = await customerOf(ada, 1);
  const { fromToken } = await change();
  const other = freshEmail('other');
  await asCustomer('POST', '/change-email', { email: other });
  await lastMailTo(other);
  const { text } = await lastMailTo(from, 2);
  await signInWith(slug, { token: fromToken }).catch(() => null);
  const { session } = await signInWith(slug, { token: tokenIn(text) });
  expect(session.email_change).toBe('waiting');
  const toToken = tokenIn(mailsTo(to)[0]?.text ?? '');
  const earlier = await signInWith(slug, { token: toToken });
  expect(earlier.session).toMatchObject({ email: to, email_change: null });
  expect((await earlier.asCustomer('GET', '/licenses')).body.data).toEqual([]);
  expect(outcomeOf(await earlier.asCustomer('POST', '/change-email', { email: from }))).toBe(
    '404 license_not_found',
  );
  expect([await count(from), await count(to), await count(other)]).toEqual([1, 0, 0]);
});

/** A customer of two licenses, for each of which the seller's application signs somebody in. */
const customerOfTwo = async (ada: Seller) => {
  const customer = await customerOf(ada, 2);
  const { body } = await ada.asSession('GET', `/api/v1/licenses?customer_email=${customer.from}`);
  const askFor = async (index: number, email: string) => {
    const subject = { license_id: body.data[index].id };
    const { asCustomer } = await signInByApplication(ada, customer.slug, subject);
    return outcomeOf(await asCustomer('POST', '/change-email', { email }));
  };
  return { ...customer, askFor };
};

test('a session of one license changes the address of that one', async () => {
  const { slug, from, to, count, askFor } = await customerOfTwo(await sellerOn('free'));
  expect(await askFor(0, to)).toBe('202 ok');
  await signInWith(slug, { token: tokenIn((await lastMailTo(to)).text) });
  await signInWith(slug, { token: tokenIn((await lastMailTo(from)).text) });
  expect([await count(from), await count(to)]).toEqual([1, 1]);
});

test('a session of one license replaces no change of address that another license waits for', async () => {
  const { slug, from, to, count, askFor } = await customerOfTwo(await sellerOn('free'));
  const other = freshEmail('other');
  expect([await askFor(0, to), await askFor(1, other)]).toEqual(['202 ok', '409 invalid_transition']);
  await signInWith(slug, { token: tokenIn((await lastMailTo(to)).text) });
  const { session } = await signInWith(slug, { token: tokenIn((await lastMailTo(from)).text) });
  expect(session.email_change).toBe('done');
  expect([await count(from), await count(to), mailsTo(other).length]).toEqual([1, 1, 0]);
  expect(await askFor(1, other)).toBe('202 ok');
});

test('a waiting change of one license’s address gives way to its own, and to all others after a day', async () => {
  const ada = await sellerOn('free');
  const { from, to, askFor } = await customerOfTwo(ada);
  expect([await askFor(0, to), await askFor(0, freshEmail())]).toEqual(['202 ok', '202 ok']);
  await accountsD1
    .prepare('UPDATE portal_email_changes SET expires_at = ? WHERE account_id = ? AND email = ?')
    .bind(Date.now() - 1, ada.accountId, from)
    .run();
  expect(await askFor(1, freshEmail())).toBe('202 ok');
});

test('a change of the whole address replaces a waiting one of a single license, but not the reverse', async () => {
  const { to, asCustomer, askFor } = await customerOfTwo(await sellerOn('free'));
  expect(await askFor(0, freshEmail())).toBe('202 ok');
  expect(outcomeOf(await asCustomer('POST', '/change-email', { email: to }))).toBe('202 ok');
  expect(await askFor(0, freshEmail())).toBe('409 invalid_transition');
});

test('the scheduled work goes on with a customer of more licenses than a request changes', async () => {
  const ada = await sellerOn('scale');
  const { slug, from, to, count, change } = await customerOf(ada, 1_000);
  const { fromToken, toToken } = await change();
  await signInWith(slug, { token: fromToken });
  const { session } = await signInWith(slug, { token: toToken });
  expect(session.email_change).toBe('under_way');
  expect([await count(from), await count(to)]).toEqual([200, 800]);
  await runHourly();
  expect([await count(from), await count(to)]).toEqual([0, 1_000]);
  const { body } = await ada.asSession('GET', `/api/v1/licenses?customer_email=${to}&limit=1`);
  expect(body.data.map(({ status }: Json) => status)).toEqual(['active']);
});

test('a change of more licenses than a run changes goes on in the next hour, and not at once', async () => {
  silenceErrors();
  await confirmInVain(await customerOf(await sellerOn('scale'), 801));
  expect([await doWork('finishEmailChanges'), await doWork('finishEmailChanges')]).toEqual([false, false]);
});

test('customers of an account that is full still change their address', async () => {
  const ada = await sellerOn('free');
  const { to, count, confirm } = await customerOf(ada, 2);
  await setCountedBytes(ada.accountId, 500_000_000);
  expect(await confirm()).toBe('done');
  expect(await count(to)).toBe(2);
});

/** An environment in which nobody can reach the gate of an account. */
const withoutGateOf = (accountId: string): Env => ({
  ...env,
  GATE: new Proxy(env.GATE, {
    get: (namespace, property) =>
      property === 'getByName'
        ? (name: string) => {
            if (name === accountId) throw new Error('The gate is cut off.');
            return namespace.getByName(name);
          }
        : Reflect.get(namespace, property),
  }),
});

/** Lets both addresses confirm a change that the gate's silence keeps from being made. */
const confirmInVain = async (customer: Awaited<ReturnType<typeof customerOf>>) => {
  const announce = vi.spyOn(AccountGate.prototype, 'announce').mockRejectedValue(new Error('cut off'));
  expect(await customer.confirm()).toBe('under_way');
  announce.mockRestore();
  return customer;
};

const silenceErrors = () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => logged.mockRestore());
  return logged;
};

test('an old session can’t stop a change that both addresses have confirmed', async () => {
  silenceErrors();
  const ada = await sellerOn('free');
  const customer = await customerOf(ada, 1);
  await confirmInVain(customer);
  const thief = freshEmail('thief');
  const refused = await customer.asCustomer('POST', '/change-email', { email: thief });
  expect(outcomeOf(refused)).toBe('409 invalid_transition');
  expect(refused.body.error.message).toContain('under way');
  expect([mailsTo(thief).length, mailsTo(customer.from).length]).toEqual([0, 1]);
  const log = await ada.asSession('GET', '/api/audit-log?action=customer.request_email_change');
  expect(log.body.data).toHaveLength(1);
  await runHourly();
  expect([await customer.count(customer.from), await customer.count(customer.to)]).toEqual([0, 1]);
});

test('changes of address that fail each hour don’t keep those of another account from being made', async () => {
  const logged = silenceErrors();
  const [ada, bob] = [await sellerOn('free'), await sellerOn('free')];
  const confirmedInVain = async (seller: Seller) => confirmInVain(await customerOf(seller, 1));
  const stuck = [await confirmedInVain(ada), await confirmedInVain(ada), await confirmedInVain(ada)];
  const other = await confirmedInVain(bob);
  const isMoreDue = () => doWork('finishEmailChanges', withoutGateOf(ada.accountId));
  // The three that fail, the other one with two of them, and the third again with two.
  expect([await isMoreDue(), await isMoreDue(), await isMoreDue()]).toEqual([false, true, false]);
  expect(logged.mock.calls.join()).toContain('email_change_not_made');
  expect(await other.count(other.to)).toBe(1);
  for (const { count, to } of stuck) expect(await count(to)).toBe(0);
  // They are not forgotten, and all of them are made in one hour with a new one.
  stuck.push(await confirmedInVain(ada));
  await runHourly();
  for (const { count, to } of stuck) expect(await count(to)).toBe(1);
});
