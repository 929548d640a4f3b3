import { type Context, Hono } from 'hono';
import type { StoreRow } from '../db/schema.ts';
import { type AppEnv, completed } from '../http/context.ts';
import { readRaw } from '../http/input.ts';
import { createVisitorRate } from '../http/visitor-rate.ts';
import { AppError } from '../shared/app-error.ts';
import { idPattern } from '../shared/text/ids.ts';
import { PROVIDERS } from '../stores/provider/providers.ts';
import { receive } from '../stores/receive.ts';
import { findAnyStore } from '../stores/stores.ts';

/** 1 MiB. */
const MAX_DELIVERY_BYTES = 1_048_576;

/**
 * Refused deliveries of an address, counted once they are known to be refused: strangers can let a provider send from its own
 * address to whatever URL. One that is signed is never refused for its pace, unless its account is full: see `keep`.
 */
const admitRefused = createVisitorRate(50);

const findHooked = async (c: Context<AppEnv>): Promise<StoreRow> => {
  const id = c.req.param('store_id') ?? '';
  const store = idPattern('sto').test(id) ? await findAnyStore(c.env, id) : null;
  if (store) return store;
  admitRefused(c);
  throw new AppError('not_found');
};

const takeDelivery = async (c: Context<AppEnv>) => {
  const [body, store] = await Promise.all([readRaw(c.req.raw, MAX_DELIVERY_BYTES), findHooked(c)]);
  const delivery = {
    body,
    headers: c.req.raw.headers,
    token: c.req.param('token') ?? null,
    nowMs: Date.now(),
  };
  if (PROVIDERS[store.provider].isPing?.(delivery)) return c.json({ received: true as const }, 200);
  try {
    await completed(
      c,
      receive(c.env, store, delivery, (work) => c.executionCtx.waitUntil(work)),
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_signature') admitRefused(c);
    throw error;
  }
  return c.json({ received: true as const }, 200);
};

/** What providers call. They document their bodies themselves. */
export const hookRoutes = new Hono<AppEnv>()
  .post('/hooks/:store_id', takeDelivery)
  .post('/hooks/:store_id/:token', takeDelivery);
