import { expect, test, vi } from 'vitest';
import { calendarMonth } from '../../src/gate/rules/usage.ts';
import { type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, kill, setPlan, setUsage, storedEvents, tamper, withoutTables } from '../support/gate.ts';
import { mailsTo, sendMailsBy } from '../support/mails.ts';
import { evictOutbox, runOutboxAlarm } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { verifyAddress } from '../support/sign-in.ts';

/** An account whose receiver gets its usage events, and a function that returns them. */
const open = async () => {
  useFakeClock();
  const ada = await signUp();
  const receiver = await newReceiver();
  const hook = { url: receiver.url, events: ['usage.threshold'] };
  expect((await ada.asSession('POST', '/api/webhooks', hook)).status).toBe(201);
  /** Webhooks can arrive in any order. */
  const receives = async (count: number) =>
    (await receiver.receives(count))
      .map(({ body }): Json => JSON.parse(body))
      .toSorted((a, b) => a.percent - b.percent);
  return { ada, receives };
};

/** Sets the usage without touching the other counters. */
const jumpTo = (accountId: string, usage: number) =>
  tamper(
    accountId,
    'UPDATE recent_counters SET counters = json_set(counters, ?, ?)',
    `$."period:${calendarMonth(Date.now()).startMs}".value`,
    usage,
  );

test('usage.threshold is sent once at 80% and once at 100%, over refunds, restarts and a new limit', async () => {
  const { ada, receives } = await open();
  const { accountId } = ada;
  await ada.createLicense({ license_key: 'TAKEN-KEY' });
  await setUsage(accountId, 799);
  const create = (license_key: string) => ada.asKey('POST', '/api/v1/licenses/create', { license_key });
  expect((await create('TAKEN-KEY')).status).toBe(409);
  expect((await ada.verify('TAKEN-KEY')).body.api_usage).toBe(800);
  for (const restart of [kill, evict]) {
    await restart(accountId);
    expect((await create('TAKEN-KEY')).status).toBe(409);
  }
  await jumpTo(accountId, 995);
  await Promise.all(Array.from({ length: 8 }, () => ada.verify('TAKEN-KEY')));
  await receives(2);
  await evict(accountId);
  expect((await ada.verify('TAKEN-KEY')).status).toBe(429);

  await setPlan(accountId, 'pro');
  for (const usage of [79_999, 99_999]) {
    await jumpTo(accountId, usage);
    expect((await ada.verify('TAKEN-KEY')).body.api_usage).toBe(usage + 1);
  }
  expect(JSON.stringify(await storedEvents(accountId))).not.toContain('100000');
  const event = { event: 'usage.threshold', timestamp: expect.any(String), customer_email: ada.email };
  expect(await receives(2)).toEqual([
    { ...event, percent: 80, api_usage: 800, api_limit: 1_000 },
    { ...event, percent: 100, api_usage: 1_000, api_limit: 1_000 },
  ]);
});

test('a create that reaches a threshold sends the event, and the calls after it send none', async () => {
  const { ada, receives } = await open();
  await setUsage(ada.accountId, 998);
  const create = () => ada.asKey('POST', '/api/v1/licenses/create', {});
  const created = await Promise.all(Array.from({ length: 5 }, create));
  expect(created.filter(({ status }) => status === 201)).toHaveLength(2);
  expect((await receives(2)).map(({ percent, api_usage }) => [percent, api_usage])).toEqual([
    [80, 999],
    [100, 1_000],
  ]);
});

test('a slow email to the owner holds no webhook back', async () => {
  const { ada, receives } = await open();
  const { license_key } = await ada.createLicense();
  const slow = Promise.withResolvers<EmailSendResult>();
  const stop = sendMailsBy(() => slow.promise);
  await setUsage(ada.accountId, 799);
  await ada.verify(license_key);
  expect((await receives(1))[0]).toMatchObject({ percent: 80 });
  slow.resolve({ messageId: '1' });
  stop();
});

test('an email to the owner that can’t be sent while the database fails is sent later, once', async () => {
  const { ada, receives } = await open();
  const { license_key } = await ada.createLicense();
  await setUsage(ada.accountId, 799);
  await withoutTables(['users'], async () => {
    await ada.verify(license_key);
    expect((await receives(1))[0]).toMatchObject({ percent: 80 });
    await runOutboxAlarm(ada.accountId);
  });
  expect(mailsTo(ada.email)).toEqual([]);
  await evictOutbox(ada.accountId);
  await runOutboxAlarm(ada.accountId);
  await runOutboxAlarm(ada.accountId);
  expect(mailsTo(ada.email).map(({ subject }) => subject)).toEqual([
    'Your account has used 80% of its API calls',
  ]);
});

test('an email to the owner that can neither be sent nor held is sent later, once', async () => {
  const { ada, receives } = await open();
  await verifyAddress(ada.accountId);
  const { license_key } = await ada.createLicense();
  await setUsage(ada.accountId, 799);
  const stop = sendMailsBy(() => Promise.reject(new Error('The sender is not verified.')));
  await withoutTables(['held_notices'], async () => {
    await ada.verify(license_key);
    await receives(1);
    await runOutboxAlarm(ada.accountId);
  });
  stop();
  expect(mailsTo(ada.email)).toEqual([]);
  await evictOutbox(ada.accountId);
  await runOutboxAlarm(ada.accountId);
  await runOutboxAlarm(ada.accountId);
  expect(mailsTo(ada.email).map(({ subject }) => subject)).toEqual([
    'Your account has used 80% of its API calls',
  ]);
});

test('an email to the owner that takes longer than an attempt may is not sent a second time', async () => {
  const { ada, receives } = await open();
  const { license_key } = await ada.createLicense();
  const slow = Promise.withResolvers<EmailSendResult>();
  let sent = 0;
  const stop = sendMailsBy(() => {
    sent++;
    return slow.promise;
  });
  const wait = scheduler.wait.bind(scheduler);
  const clock = vi.spyOn(scheduler, 'wait');
  clock.mockImplementation((ms, options) => wait(ms / 100, options));
  await setUsage(ada.accountId, 799);
  await ada.verify(license_key);
  await receives(1);
  await runOutboxAlarm(ada.accountId);
  expect(sent).toBe(1);
  slow.resolve({ messageId: '1' });
  clock.mockRestore();
  stop();
});
