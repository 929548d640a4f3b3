import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import type { Part } from '../../../src/gate/moving/place.ts';
import { readReply } from '../../../src/gate/rules/calls.ts';
import { gateOf } from '../../../src/shared/objects/address.ts';
import { openLicense } from '../../support/activations.ts';
import type { Answer } from '../../support/client.ts';
import { statistics } from '../../support/gate.ts';
import { gateIn, move } from '../../support/moving.ts';
import { readEvents } from '../../support/outbox.ts';
import { newReceiver } from '../../support/receiver.ts';
import { presentedKey } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** A plan with room, and a webhook that wants every event. */
const openAccount = async () => {
  const opened = await openLicense({ max_activations: 10_000 }, {}, 'scale');
  const { url } = await newReceiver();
  await opened.customer.asSession('POST', '/api/webhooks', { url });
  return opened;
};

/** Calls through the Worker and, with the old name, at the first object, until `stop`. */
const startLoad = ({ customer, on }: Awaited<ReturnType<typeof openAccount>>, license: string) => {
  const { accountId, asKey } = customer;
  const counts = { verified: 0, created: 0, activated: 0, refused: [] as unknown[], stale: 0 };
  const load = { isOver: false };
  const repeat = async (work: (n: number) => Promise<void>) => {
    for (let n = 0; !load.isOver; n++) {
      await work(n);
      await scheduler.wait(5);
    }
  };
  const note = (isAnswered: boolean, answer: unknown) => {
    if (!isAnswered) counts.refused.push(answer);
  };
  const verify = async (call: () => Promise<Pick<Answer, 'status' | 'body'>>, isValid = true) => {
    const answer = await call();
    note(answer.status === 200 && answer.body.valid === isValid, answer);
    if (isValid) counts.verified++;
    else counts.stale++;
  };
  const byOldName = async () => {
    const reply = readReply(
      await gateIn(accountId, 1).verify(presentedKey(customer), license, crypto.randomUUID()),
    );
    return reply.refused === null ? { status: 200, body: reply.verdict } : { status: 503, body: reply };
  };
  const loops = [
    ...[1, 2, 3].map(() => repeat(() => verify(() => customer.verify(license)))),
    repeat(() => verify(byOldName)),
    repeat(async (n) => {
      const answer = await on('activate', n);
      note(answer.valid, answer);
      counts.activated++;
    }),
    repeat(async () => {
      const created = await asKey('POST', '/api/v1/licenses/create', {});
      note(created.status === 201, created);
      counts.created++;
      const suspended = await asKey('POST', `/api/v1/licenses/${created.body.id}/suspend`);
      note(suspended.status === 200, suspended);
      await verify(() => customer.verify(created.body.license_key), false);
    }),
  ];
  const stop = async () => {
    load.isOver = true;
    await Promise.all(loops);
    return counts;
  };
  /** Returns once each kind of call was answered three times more. */
  const runs = async () => {
    const total = () => [counts.verified, counts.stale, counts.created, counts.activated];
    const before = total();
    await waitUntil(
      () => Promise.resolve(total()),
      (now) => now.every((count, i) => count - (before[i] ?? 0) >= 3),
    );
  };
  return { runs, stop };
};

const COUNTED = new Set(['license.verified', 'license.created', 'activation.created']);

const eventsByName = async (accountId: string, length: number) => {
  const events = await waitUntil(
    () => readEvents(accountId),
    (all) => all.filter(({ name }) => COUNTED.has(name)).length >= length,
  );
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const count = (name: string) => events.filter((event) => event.name === name).length;
  return {
    verified: count('license.verified'),
    created: count('license.created'),
    activated: count('activation.created'),
  };
};

/** Delays the messages of a move, so that rows change between any two of them. */
const delayMessages = () => {
  const original = Reflect.get(AccountGate.prototype, 'receive');
  const spy = vi.spyOn(
    AccountGate.prototype as unknown as Record<'receive', (part: Part) => unknown>,
    'receive',
  );
  spy.mockImplementation(async function (this: AccountGate, part) {
    await scheduler.wait(15);
    original.call(this, part);
    await scheduler.wait(15);
  });
};

afterEach(() => {
  vi.restoreAllMocks();
});

test('a move under load refuses no call, loses no count and no event, and shows no older state', async () => {
  const account = await openAccount();
  const { accountId, createLicense } = account.customer;
  const { license_key: plain } = await createLicense();
  const before = { created: 2, apiUsage: (await statistics(accountId)).apiUsage };
  delayMessages();
  const { runs, stop } = startLoad(account, plain);
  try {
    await runs();
    expect(await move(accountId, 'oc')).toEqual({ refused: null, movingTo: 'oc' });
    await runs();
  } finally {
    await stop();
  }
  const { verified, created, activated, refused, stale } = await stop();
  expect(refused).toEqual([]);

  const { apiUsage } = await statistics(accountId);
  expect(apiUsage - before.apiUsage).toBe(verified + created + activated + stale);
  const expected = { verified, created: created + before.created, activated };
  const length = verified + created + before.created + activated;
  expect(await eventsByName(accountId, length)).toEqual(expected);
  expect(gateOf(env, accountId).id.toString()).toBe(gateIn(accountId, 2).id.toString());
});
