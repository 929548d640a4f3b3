import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import {
  addEndpoint,
  loseHints,
  outbox,
  readOutbox,
  withFullTable,
  withoutTable,
} from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

// Webhooks are stored in the account's outbox, so an Idempotency-Key is claimed in D1 before the outbox makes the change once.

let ada: Customer;

beforeEach(async () => {
  useFakeClock(Date.UTC(2027, 2, 10, 12));
  loseHints();
  ada = await signUp();
});

const URL = 'https://example.com/hook';
const send = (method: string, path: string, body?: object, key = 'order-7') =>
  ada.asSession(method, path, body, { 'idempotency-key': key });
const webhooks = async () => (await ada.asSession('GET', '/api/webhooks')).body.data as Json[];
const deliveries = async (path: string) =>
  (await ada.asSession('GET', `${path}/deliveries`)).body.data as Json[];
const entries = async (action: string) =>
  (await ada.asSession('GET', `/api/audit-log?action=${action}`)).body.data as Json[];

describe('with one Idempotency-Key', () => {
  test('a webhook is added once, and each repeat gets its secret', async () => {
    const add = () => send('POST', '/api/webhooks', { url: URL });
    const answers = [...(await Promise.all([add(), add(), add()])), await add()];
    const [{ id }] = await webhooks();
    for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
    expect(answers[0]?.body.id).toBe(id);
    expect(await webhooks()).toHaveLength(1);
    expect(await entries('webhook.create')).toHaveLength(1);

    await ada.asSession('DELETE', `/api/webhooks/${id}`);
    expect((await add()).body.error.code).toBe('idempotency_conflict');
    expect(await webhooks()).toEqual([]);
    // It belongs to one call with one body.
    expect((await send('POST', '/api/webhooks', { url: `${URL}/2` })).status).toBe(409);
  });

  test('a change of a webhook that was deleted since is told so', async () => {
    const { id } = (await send('POST', '/api/webhooks', { url: URL })).body;
    const path = `/api/webhooks/${id}`;
    const changes = [
      () => send('PATCH', path, { description: 'The shop' }, 'describe'),
      () => send('POST', `${path}/rotate-secret`, undefined, 'rotate'),
    ];
    for (const change of changes) expect((await change()).status).toBe(200);
    await ada.asSession('DELETE', path);
    for (const change of changes) expect((await change()).body.error.code).toBe('idempotency_conflict');
  });

  test('a secret is rotated once, and each repeat gets the new one', async () => {
    const { id, path } = await addEndpoint(ada, URL);
    const rotate = () => send('POST', `${path}/rotate-secret`);
    const answers = [...(await Promise.all([rotate(), rotate()])), await rotate()];
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
    expect((await outbox(ada.accountId).getEndpoint(id))?.earlierSecrets).toHaveLength(1);
  });

  test('a change of a webhook is made once, and a repeat undoes no later change', async () => {
    const { path } = await addEndpoint(ada, URL);
    const disable = () => send('PATCH', path, { status: 'disabled' });
    expect((await disable()).body.status).toBe('disabled');
    await ada.asSession('PATCH', path, { status: 'enabled' });
    expect((await disable()).body.status).toBe('enabled');
  });

  test('one test event is sent, and one delivery is sent again', async () => {
    const { path } = await addEndpoint(ada, URL);
    const test = () => send('POST', `${path}/test`, undefined, 'test');
    const sent = [...(await Promise.all([test(), test()])), await test()];
    expect(new Set(sent.map(({ body }) => body.id)).size).toBe(1);
    expect(await deliveries(path)).toHaveLength(1);

    const resend = () => send('POST', `${path}/deliveries/${sent[0]?.body.id}/resend`, undefined, 'resend');
    expect([(await resend()).status, (await resend()).status]).toEqual([200, 200]);
    expect(await entries('webhook.resend')).toHaveLength(1);
  });

  test('a replay answers with the first count', async () => {
    const receiver = await newReceiver();
    const { path } = await addEndpoint(ada, receiver.url);
    await ada.asSession('PATCH', path, { status: 'disabled' });
    await ada.createLicense();
    const missed = () => deliveries(path);
    await expect.poll(missed).toMatchObject([{ status: 'failed' }]);
    await ada.asSession('PATCH', path, { status: 'enabled' });
    const replay = () => send('POST', `${path}/replay`, { since: '2027-03-10T00:00:00.000Z' });
    for (let i = 0; i < 2; i++) expect((await replay()).body).toEqual({ deliveries: 1 });
  });
});

test('a change that an outbox could not make is made by the repeat, once', async () => {
  const { path, id } = await addEndpoint(ada, URL);
  const rotate = () => send('POST', `${path}/rotate-secret`);
  // The outbox restarts.
  expect((await withoutTable(ada.accountId, 'made', rotate)).status).toBe(503);
  expect((await rotate()).status).toBe(200);
  expect((await rotate()).status).toBe(200);
  expect((await outbox(ada.accountId).getEndpoint(id))?.earlierSecrets).toHaveLength(1);
  expect(await entries('webhook.rotate_secret')).toHaveLength(1);
});

test('a change of a webhook that can’t be stored is not made in memory either', async () => {
  const { id } = await addEndpoint(ada, URL);
  const describeAs = async (description: string) => outbox(ada.accountId).updateEndpoint(id, { description });
  await withFullTable(ada.accountId, 'endpoints', () => expect(describeAs('a')).rejects.toThrow('full'));
  expect(await outbox(ada.accountId).getEndpoint(id)).toMatchObject({ description: null });
  expect(await describeAs('b')).toMatchObject({ description: 'b' });
});

test('a refused change leaves its Idempotency-Key free', async () => {
  const { path } = await addEndpoint(ada, URL);
  for (let i = 0; i < 4; i++) await ada.asSession('POST', `${path}/rotate-secret`);
  expect((await send('POST', `${path}/rotate-secret`)).body.error.code).toBe('limit_reached');
  expect((await send('POST', `${path}/test`)).status).toBe(200);
});

test('the outbox forgets what was made after two days', async () => {
  const { path } = await addEndpoint(ada, URL);
  const made = () => readOutbox(ada.accountId, 'SELECT id FROM made');
  await send('PATCH', path, { description: 'a' }, 'a');
  expect(await made()).toHaveLength(1);
  vi.setSystemTime(Date.now() + 2 * DAY_MS + 1_000);
  await send('PATCH', path, { description: 'b' }, 'b');
  expect(await made()).toHaveLength(1);
});
