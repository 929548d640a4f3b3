import type * as z from 'zod';
import { audited } from '../audit/audited.ts';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { outboxOf } from '../shared/objects/address.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { EVENT_NAMES } from '../shared/rules/events.ts';
import { effectivePlan } from '../shared/rules/plans.ts';
import { MAX_LISTENERS, MAX_REPLAYED_PER_DAY, MAX_TABS } from '../shared/rules/webhooks.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { findEndpoint } from './endpoints.ts';
import type { DeliveryRecord } from './outbox-tables.ts';
import { type listenQuery, type ReplayInput, toDeliveryBody, toNewEvents } from './schemas.ts';
import { waitForEvent } from './wait.ts';

const SECOND_MS = 1_000;

export const listDeliveries = async (
  { env, accountId }: Ctx,
  endpointId: string,
  { limit, cursor }: PageInput,
) => {
  const rows = await outboxOf(env, accountId).listDeliveries(endpointId, limit + 1, cursor ?? null);
  if (!rows) throw new AppError('webhook_not_found');
  return toPage(rows, limit, toDeliveryBody);
};

const webhookIsDisabled = () =>
  new AppError('invalid_transition', {
    message: 'This webhook is disabled: enable it before you send events to it.',
  });

const assertEnabled = async (ctx: Ctx, endpointId: string) => {
  const { disabledReason } = await findEndpoint(ctx, endpointId);
  if (disabledReason) throw webhookIsDisabled();
};

export const sendTest = async (ctx: Ctx, endpointId: string): Promise<DeliveryRecord> => {
  const { email } = await getAccount(ctx);
  return audited(ctx, ['webhook.test', endpointId], {
    check: () => assertEnabled(ctx, endpointId),
    makeChange: async (onceId) => {
      const delivery = await outboxOf(ctx.env, ctx.accountId).sendTest(endpointId, email, onceId);
      if (!delivery) throw new AppError('webhook_not_found');
      return delivery;
    },
  });
};

export const resend = async (ctx: Ctx, endpointId: string, deliveryId: string): Promise<DeliveryRecord> => {
  const check = async () => {
    await assertEnabled(ctx, endpointId);
    // The first delivery of a page that begins with this one.
    const [delivery] =
      (await outboxOf(ctx.env, ctx.accountId).listDeliveries(endpointId, 1, `${deliveryId}~`)) ?? [];
    if (delivery?.id !== deliveryId) throw new AppError('not_found', { message: 'Delivery Not Found' });
  };
  return audited(ctx, ['webhook.resend', deliveryId, { webhook_id: endpointId }], {
    check,
    makeChange: async (onceId) => {
      const delivery = await outboxOf(ctx.env, ctx.accountId).resend(endpointId, deliveryId, onceId);
      if (delivery) return delivery;
      await check();
      // The delivery exists, and its webhook is enabled again: it was disabled when the outbox looked.
      throw webhookIsDisabled();
    },
  });
};

const replayedTooMany = () =>
  new AppError('rate_limit_exceeded', {
    message: `The account has replayed ${MAX_REPLAYED_PER_DAY.toLocaleString('en')} deliveries today, which is the maximum. Those are being sent.`,
    retryAfterSeconds: Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / SECOND_MS),
  });

/** Sends what the endpoint has missed or refused, and returns how many deliveries that are. */
export const replay = async (ctx: Ctx, endpointId: string, { since, events = null }: ReplayInput) => {
  const names = events ?? EVENT_NAMES;
  const replayed = await audited(ctx, ['webhook.replay', endpointId, { since, events: [...names] }], {
    check: () => assertEnabled(ctx, endpointId),
    makeChange: async (onceId) => {
      const wanted = { sinceMs: Date.parse(since), names: events };
      const result = await outboxOf(ctx.env, ctx.accountId).replay(endpointId, wanted, onceId);
      if (result === null) throw replayedTooMany();
      return result;
    },
  });
  // What was sent before the limit keeps its entry.
  if (typeof replayed !== 'number') throw replayedTooMany();
  return replayed;
};

/** Returns the events that arrived after the cursor, or waits for the next event. */
export const listenForEvents = async (ctx: Ctx, query: z.output<typeof listenQuery>) => {
  const { env, accountId, key } = ctx;
  const { cursor, wait } = query;
  const after = cursor === undefined ? null : Number(cursor);
  const verified = query.verified === 'true';
  if (after !== null && wait > 0) {
    const limit = key ? MAX_LISTENERS[effectivePlan(await getAccount(ctx), Date.now())] : MAX_TABS;
    const by = key ? 'api_key' : 'session';
    await waitForEvent(outboxOf(env, accountId), { after, waitMs: wait * SECOND_MS, limit, by, verified });
  }
  // By way of a new stub, because the outbox may have restarted.
  const arrivals = await outboxOf(env, accountId).listen(after, verified);
  if (!arrivals)
    throw invalidField('cursor', 'has expired: call without a cursor to get the events from now on');
  return toNewEvents(arrivals);
};
