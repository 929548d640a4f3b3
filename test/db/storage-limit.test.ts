import { expect, test } from 'vitest';
import { type Answer, type Customer, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { accountsD1, d1Of } from '../support/databases.ts';
import { setPlan } from '../support/gate.ts';
import { lastMailTo } from '../support/mails.ts';
import { asOperator, scrapeMetrics, withOperatorToken } from '../support/operator.ts';
import { addEndpoint } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { countedBytes, setCountedBytes, sumOfRows } from '../support/storage.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

const MB = 1_000_000;

const storageOf = async (ada: Customer) => (await ada.asSession('GET', '/api/dashboard')).body.storage;

/** Marks the address as proved, as the link in the email does. */
const verify = (ada: Customer) =>
  accountsD1.prepare('UPDATE accounts SET is_unverified = 0 WHERE id = ?').bind(ada.accountId).run();

test('an account that stores as much as it may stores nothing more, until something is deleted', async () => {
  const ada = await signUp();
  const { limit } = await storageOf(ada);
  expect(limit).toBe(10 * MB);
  // As if the account had stored the rest before.
  const before = limit - MB;
  await setCountedBytes(ada.accountId, before);
  const empty = await sumOfRows(ada.accountId);
  const stored = async () => before + (await sumOfRows(ada.accountId)) - empty;
  const line = (batch: number, i: number) => ({
    customer_email: `${batch}-${i}@example.com`,
    metadata: { note: 'x'.repeat(4_000) },
  });
  const refusals = new Set<string>();
  for (let batch = 0; refusals.size === 0 && batch < 5; batch++) {
    const lines = Array.from({ length: 100 }, (_, i) => line(batch, i));
    const { answers } = await importAs(ada, toLines(lines));
    for (const { error } of answers) if (error) refusals.add(error.code);
  }
  expect([...refusals]).toEqual(['storage_limit_reached']);
  const full = await stored();
  expect(full).toBeGreaterThan(limit - 0.5 * MB);
  expect(full).toBeLessThanOrEqual(limit);
  expect(await countedBytes(ada.accountId)).toBe(full);

  await setCountedBytes(ada.accountId, limit - 500);
  const answers: Answer[] = await Promise.all(
    Array.from({ length: 10 }, () => ada.asSession('POST', '/api/v1/licenses/create', {})),
  );
  expect(tallyOf(answers)).toEqual({ '403 storage_limit_reached': 10 });
  expect(answers[0]?.body.error).toMatchObject({
    message: 'Storage Limit Reached',
    details: [{ path: 'storage' }],
  });
  expect(await stored()).toBe(full);
  expect(await countedBytes(ada.accountId)).toBe(limit - 500);

  const [{ id }] = (await ada.asSession('GET', '/api/v1/licenses?limit=1')).body.data;
  expect((await ada.asSession('DELETE', `/api/v1/licenses/${id}`)).status).toBe(200);
  expect((await ada.asSession('POST', '/api/v1/licenses/create', {})).status).toBe(201);
});

test('a create that is refused counts no call and changes nothing that verify sees', async () => {
  const { ada, license } = await sellerWithLicense();
  await setCountedBytes(ada.accountId, 10 * MB);
  expect(outcomeOf(await ada.asKey('POST', '/api/v1/licenses/create', { license_key: 'TOO-MUCH-1' }))).toBe(
    '403 storage_limit_reached',
  );
  expect((await ada.verify('TOO-MUCH-1')).body.status).toBe('not_found');
  expect((await ada.verify(license.license_key)).body).toMatchObject({ valid: true, api_usage: 1 });
});

test('an account that is full can end, erase, read, pay, and change what gets no larger, and nothing else', async () => {
  const ada = await signUp();
  const [first, second, third] = [
    await ada.createLicense(),
    await ada.createLicense(),
    await ada.createLicense(),
  ];
  await ada.asSession('POST', `/api/v1/licenses/${third.id}/suspend`);
  await ada.asSession('PUT', '/api/v1/products/P1', {});
  const { body: key } = await ada.asSession('POST', '/api/create-api-key', {});
  const { url } = await newReceiver();
  const endpoint = await addEndpoint(ada, url);
  // As after a downgrade.
  await setCountedBytes(ada.accountId, 500 * MB);
  const outcome = async (method: string, path: string, body?: unknown) =>
    [path.replaceAll(/\b[a-z]+_\w{20}/g, ':id'), outcomeOf(await ada.asSession(method, path, body))] as const;
  const refused = [
    await outcome('POST', '/api/v1/licenses/create', {}),
    await outcome('PATCH', `/api/v1/licenses/${first.id}`, { customer_name: 'Ada' }),
    await outcome('PATCH', `/api/v1/licenses/${first.id}`, { metadata: { note: 'Paid' } }),
    await outcome('POST', `/api/v1/licenses/${first.id}/rotate-key`, { license_key: 'A'.repeat(128) }),
    await outcome('PUT', '/api/v1/products/P2', {}),
    await outcome('POST', '/api/create-api-key', {}),
    await outcome('POST', `/api/api-keys/${key.id}/rotate`, {}),
    await outcome('GET', `/api/api-keys/${key.id}`),
    await outcome('POST', '/api/webhooks', { url }),
    await outcome('PATCH', `/api/webhooks/${endpoint.id}`, { description: 'x' }),
    await outcome('PATCH', '/api/account', { name: 'Ada' }),
  ];
  expect(refused.filter(([, answer]) => answer !== '403 storage_limit_reached')).toEqual([]);
  const stored = await sumOfRows(ada.accountId);
  const allowed = [
    await outcome('POST', `/api/v1/licenses/${first.id}/renew`, { duration_days: 1 }),
    await outcome('PATCH', `/api/v1/licenses/${first.id}`, { customer_email: 'a@b.co', metadata: {} }),
    await outcome('POST', `/api/v1/licenses/${third.id}/reinstate`),
    await outcome('POST', `/api/v1/licenses/${first.id}/rotate-key`, {}),
    await outcome('POST', `/api/v1/licenses/${first.id}/suspend`),
    await outcome('POST', `/api/v1/licenses/${second.id}/revoke`),
    await outcome('DELETE', `/api/v1/licenses/${third.id}`),
    await outcome('DELETE', '/api/v1/products/P1'),
    await outcome('DELETE', `/api/api-keys/${key.id}`),
    await outcome('DELETE', `/api/webhooks/${endpoint.id}`),
    await outcome('POST', '/api/erase-customer', { customer_email: 'eve@example.com' }),
    await outcome('GET', '/api/export'),
    await outcome('POST', '/api/init-payment', { plan: 'scale' }),
  ];
  expect(allowed.filter(([, answer]) => !answer.startsWith('20'))).toEqual([]);
  // Entries of the audit log and of histories, which count as changes of the day.
  expect((await sumOfRows(ada.accountId)) - stored).toBeLessThan(3_000);
});

test.for([
  ['free', 100],
  ['pro', 1_000],
  ['scale', 8_000],
] as const)('an account on %s may store %i MB', async ([plan, megabytes]) => {
  const ada = await signUp();
  await setPlan(ada.accountId, plan);
  await verify(ada);
  expect((await storageOf(ada)).limit).toBe(megabytes * MB);
  await setCountedBytes(ada.accountId, megabytes * MB - 1_500);
  const create = async () => outcomeOf(await ada.asSession('POST', '/api/v1/licenses/create', {}));
  expect([await create(), await create()]).toEqual(['201 ok', '403 storage_limit_reached']);
});

test('an account has a tenth of its storage until its email address is verified', async () => {
  const ada = await signUp();
  await ada.asSession('POST', '/api/resend-verification');
  expect((await storageOf(ada)).limit).toBe(10 * MB);
  const { text } = await lastMailTo(ada.email);
  const [, token] = /verify-email#token=(\S+)/.exec(text) ?? [];
  await ada.asSession('POST', '/api/verify-email', { token });
  expect((await storageOf(ada)).limit).toBe(100 * MB);
});

test('the proof of an email address that was cut off between the databases is completed by the next look', async () => {
  const ada = await signUp();
  await d1Of('users')
    .prepare('UPDATE users SET email_verified_at = 1 WHERE account_id = ?')
    .bind(ada.accountId)
    .run();
  await ada.asSession('GET', '/api/account');
  expect((await storageOf(ada)).limit).toBe(100 * MB);
});

test('the operator sees what each account stores, and the largest accounts in the metrics', async () => {
  const stop = withOperatorToken();
  await accountsD1.prepare('UPDATE license_totals SET bytes = 0').run();
  const sellers = await Promise.all(Array.from({ length: 12 }, signUp));
  for (const [i, { accountId }] of sellers.entries()) await setCountedBytes(accountId, (i + 1) * MB);
  const last = sellers[11] as Customer;
  const { body } = await asOperator('GET', `/operator/accounts?q=${last.accountId}`);
  expect(body.data[0].storage).toEqual({ used: 12 * MB, limit: 10 * MB });
  const samples = (await scrapeMetrics()).matchAll(
    /^latchkey_account_stored_bytes\{account="(.*)"\} (\d+)$/gm,
  );
  expect([...samples].map(([, account, bytes]) => [account, Number(bytes)])).toEqual(
    sellers
      .map(({ accountId }, i) => [accountId, (i + 1) * MB])
      .toReversed()
      .slice(0, 10),
  );
  stop();
});
