import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { newReceiver } from '../support/receiver.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

const readDashboard = async ({ asSession }: Customer): Promise<Json> =>
  (await asSession('GET', '/api/dashboard')).body;

const webhookFigures = async (customer: Customer) => (await readDashboard(customer)).webhooks;

test('the dashboard counts webhooks and the delivery attempts of the last 24 hours', async () => {
  useFakeClock(NOON);
  const ada = await signUp();
  const [good, bad] = [await newReceiver(), await newReceiver({ status: 500 }, { status: 200 })];
  const { body: first } = await ada.asSession('POST', '/api/webhooks', { url: good.url });
  await ada.asSession('POST', '/api/webhooks', { url: bad.url, events: ['license.created'] });
  expect(await webhookFigures(ada)).toEqual({ endpoints: 2, delivered_24h: 0, failed_24h: 0 });

  await ada.createLicense();
  await expect.poll(() => webhookFigures(ada)).toEqual({ endpoints: 2, delivered_24h: 1, failed_24h: 1 });
  vi.advanceTimersByTime(10_000);
  await runDurableObjectAlarm(env.OUTBOX.getByName(ada.accountId));
  await expect.poll(() => webhookFigures(ada)).toEqual({ endpoints: 2, delivered_24h: 2, failed_24h: 1 });

  await ada.asSession('DELETE', `/api/webhooks/${first.id}`);
  expect(await webhookFigures(ada)).toEqual({ endpoints: 1, delivered_24h: 2, failed_24h: 1 });
  vi.setSystemTime(NOON + 86_400_000 - 60_000);
  expect(await webhookFigures(ada)).toEqual({ endpoints: 1, delivered_24h: 2, failed_24h: 1 });
  vi.setSystemTime(NOON + 86_400_000 + 60_000);
  expect(await webhookFigures(ada)).toEqual({ endpoints: 1, delivered_24h: 0, failed_24h: 0 });
});

test('the dashboard lists the latest ten events with their payloads, newest first', async () => {
  useFakeClock(NOON);
  const [ada, bob] = [await signUp(), await signUp()];
  const { url } = await newReceiver();
  const made: Json[] = [];
  for (let i = 0; i < 11; i++) {
    vi.advanceTimersByTime(1_000);
    made.push(await ada.createLicense({ customer_email: `grace-${i}@example.com` }));
  }
  // Read the time now, because expect.poll advances the fake clock.
  const timestamp = new Date(Date.now()).toISOString();
  const recent = async (): Promise<Json[]> => (await readDashboard(ada)).recent_events;
  const keysOf = (events: Json[]) => events.map(({ payload }) => payload.license_key);
  await expect
    .poll(async () => keysOf(await recent()))
    .toEqual(
      made
        .slice(1)
        .toReversed()
        .map(({ license_key: key }) => key),
    );
  const [latest] = await recent();
  expect(latest).toEqual({
    id: expect.stringMatching(/^evt_/),
    event: 'license.created',
    created_at: timestamp,
    payload: {
      event: 'license.created',
      timestamp,
      customer_email: 'grace-10@example.com',
      license_key: made[10].license_key,
      license_id: made[10].id,
    },
  });

  vi.advanceTimersByTime(1_000);
  const { body: webhook } = await ada.asSession('POST', '/api/webhooks', { url });
  await ada.asSession('POST', `/api/webhooks/${webhook.id}/test`);
  vi.advanceTimersByTime(1_000);
  await ada.verify(made[0].license_key);
  const names = async () => (await recent()).map(({ event }) => event).slice(0, 3);
  await expect.poll(names).toEqual(['license.verified', 'webhook.test', 'license.created']);
  expect((await readDashboard(bob)).recent_events).toEqual([]);
});
