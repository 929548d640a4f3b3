import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import type { DeliveryJob } from '../../src/webhooks/jobs.ts';
import { WebhookOutbox } from '../../src/webhooks/webhook-outbox.ts';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { mailsTo, sendMailsBy } from '../support/mails.ts';
import { addEndpoint, killOutbox, loseHints, outbox } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';

// Replays that come between deliveries, restarts, and changes of the webhook.

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const WANTED = { sinceMs: NOON - DAY_MS, names: null };
const FIVE_MINUTES_MS = 5 * 60_000;

let ada: Customer;
let id: string;
let path: string;

beforeEach(async () => {
  useFakeClock(NOON);
  loseHints();
  ada = await signUp();
  ({ id, path } = await addEndpoint(ada, 'https://example.com/hook'));
});

afterEach(() => {
  vi.restoreAllMocks();
});

const stub = () => outbox(ada.accountId);
const claim = async (endpointId = id): Promise<DeliveryJob[]> => stub().claim(endpointId);
const patch = (changes: object) => ada.asSession('PATCH', path, changes);

const accept = (count: number) => {
  const event = () => newEvent('license.created', Date.now(), { customer_email: 'grace@example.com' });
  return stub().accept(JSON.stringify(Array.from({ length: count }, event)));
};

const settle = async (
  job: DeliveryJob,
  statusCode = 200,
  wantsMore = false,
  endpointId = id,
): Promise<DeliveryJob | null> => {
  vi.advanceTimersByTime(1);
  const attempt = { atMs: Date.now(), error: null, durationMs: 1, response: '', retryAfterMs: null };
  return stub().settle(endpointId, job, { ...attempt, ok: statusCode === 200, statusCode }, wantsMore);
};

/** Delivers everything that is due, one after the other, and returns the ids. */
const deliverAll = async (underWay: DeliveryJob[] = []): Promise<string[]> => {
  const sent: string[] = [];
  const jobs = [...underWay, ...(await claim())];
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    sent.push(job.deliveryId);
    const next = await settle(job, 200, true);
    if (next) jobs.push(next);
  }
  return sent;
};

/** Events that happen while the webhook is disabled. */
const miss = async (count: number) => {
  await patch({ status: 'disabled' });
  await accept(count);
  await patch({ status: 'enabled' });
};

const statuses = async () =>
  (await stub().listDeliveries(id, 100, null))?.map(({ status }) => status).toSorted();

test('a replay after a restart sends what was missed once, and nothing that was sent just before', async () => {
  await accept(1);
  await deliverAll();
  await miss(4);
  await accept(8);
  const [first, second, ...others] = await claim();
  await settle(first!);
  await settle(second!);
  // The row that tells who sends what is behind now.
  await killOutbox(ada.accountId);
  expect(await stub().replay(id, WANTED)).toBe(4);
  await killOutbox(ada.accountId);
  expect(await stub().replay(id, WANTED)).toBe(0);
  const sent = await deliverAll();
  expect(sent).toHaveLength(10);
  expect(new Set(sent).size).toBe(10);
  expect(sent).toEqual(expect.arrayContaining(others.map(({ deliveryId }) => deliveryId)));
  expect(await statuses()).toEqual(Array.from({ length: 13 }, () => 'delivered'));
});

test('a replay leaves alone what is being sent', async () => {
  await miss(3);
  await accept(5);
  const underWay = await claim();
  expect(await stub().replay(id, WANTED)).toBe(3);
  const sent = await deliverAll(underWay);
  expect(new Set(sent).size).toBe(8);
  expect(sent).toHaveLength(8);
});

test('a replay of a webhook that is deleted or disabled meanwhile sends nothing', async () => {
  await miss(3);
  await patch({ status: 'disabled' });
  expect(await stub().replay(id, WANTED)).toBe(0);
  await ada.asSession('DELETE', path);
  expect(await stub().replay(id, WANTED)).toBe(0);
  const since = new Date(WANTED.sinceMs).toISOString();
  expect((await ada.asSession('POST', `${path}/replay`, { since })).status).toBe(404);
});

/** Lets something happen to the webhook between the checks of a resend and its change, and between that and its answer. */
const aroundResend = (
  before: (object: WebhookOutbox) => Promise<unknown>,
  after: (object: WebhookOutbox) => Promise<unknown> = async () => {},
) => {
  const spy = vi.spyOn(WebhookOutbox.prototype, 'resend');
  spy.mockImplementation(async function (this: WebhookOutbox, ...call) {
    spy.mockRestore();
    await before(this);
    const answer = await this.resend(...call);
    await after(this);
    return answer;
  });
};

test('a resend to a webhook that is deleted or disabled meanwhile sends nothing', async () => {
  await miss(1);
  const [missed] = (await stub().listDeliveries(id, 1, null)) ?? [];
  const resend = async () => {
    const { status, body } = await ada.asSession('POST', `${path}/deliveries/${missed!.id}/resend`);
    return [status, body.error?.code];
  };
  const turn = (disabledReason: 'by_you' | null) => (object: WebhookOutbox) =>
    object.updateEndpoint(id, { disabledReason });
  aroundResend(turn('by_you'));
  expect(await resend()).toEqual([409, 'invalid_transition']);
  expect(await statuses()).toEqual(['failed']);
  // The one refusal that earlier versions of the Worker know.
  expect(await stub().resend(id, missed!.id)).toBeNull();
  await patch({ status: 'enabled' });
  aroundResend(turn('by_you'), turn(null));
  expect(await resend()).toEqual([409, 'invalid_transition']);
  expect(await stub().replay(id, WANTED)).toBe(1);
  aroundResend((object) => object.deleteEndpoint(id));
  expect(await resend()).toEqual([404, 'webhook_not_found']);
  expect((await ada.asSession('GET', '/api/audit-log?action=webhook.resend')).body.data).toEqual([]);
});

test('what a webhook has missed goes to the URL that it has now', async () => {
  await accept(1);
  const [job] = await claim();
  await settle(job!, 410);
  vi.advanceTimersByTime(FIVE_MINUTES_MS);
  const [again] = await claim();
  await settle(again!, 410);
  await accept(2);
  expect((await patch({ url: 'https://example.com/new', status: 'enabled' })).body).toMatchObject({
    status: 'enabled',
    failing_since: null,
  });
  expect(await stub().replay(id, WANTED)).toBe(3);
  const jobs = await claim();
  expect(jobs.map(({ url }) => url)).toEqual(Array.from({ length: 3 }, () => 'https://example.com/new'));
  // An answer of the earlier URL that comes only now.
  await settle(again!, 410);
  expect((await ada.asSession('GET', path)).body.status).toBe('enabled');
});

test('a webhook that many attempts find gone is disabled with one email', async () => {
  await accept(6);
  const jobs = await claim();
  await settle(jobs[0]!, 410);
  vi.advanceTimersByTime(FIVE_MINUTES_MS);
  for (const job of jobs.slice(1)) await settle(job, 410);
  for (const job of jobs.slice(1)) await settle(job, 410);
  await waitUntil(() => mailsTo(ada.email).length === 1);
  await killOutbox(ada.accountId);
  await accept(1);
  expect(mailsTo(ada.email)).toHaveLength(1);
  expect((await ada.asSession('GET', path)).body).toMatchObject({ disabled_reason: 'gone' });
});

test('a webhook that is disabled while the email about another one of its host is sent gets an email of its own', async () => {
  const { id: otherId } = await addEndpoint(ada, 'https://example.com/other');
  await accept(1);
  for (const endpointId of [id, otherId]) await settle((await claim(endpointId))[0]!, 410, false, endpointId);
  vi.advanceTimersByTime(FIVE_MINUTES_MS);
  const slow = Promise.withResolvers<EmailSendResult>();
  let sent = 0;
  const stop = sendMailsBy(() => {
    sent++;
    return slow.promise;
  });
  onTestFinished(() => void stop());
  await settle((await claim(id))[0]!, 410);
  await waitUntil(() => sent > 0);
  await settle((await claim(otherId))[0]!, 410, false, otherId);
  slow.resolve({ messageId: '1' });
  await waitUntil(() => sent > 1);
  expect(sent).toBe(2);
});
