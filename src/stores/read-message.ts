import { eq } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { type StoreMessageRow, storeMessages, type StoreRow } from '../db/schema.ts';
import { pull } from '../gate/worker/commit.ts';
import { dropIfErased } from '../purchases/bodies.ts';
import type { StoreFact } from '../purchases/rules/facts.ts';
import { takeFacts } from '../purchases/take.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { unseal } from '../shared/crypto/sealing.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import { openApi, StoreApiError } from './api-access.ts';
import { ofConnected } from './connected.ts';
import type { StoreReading } from './provider/provider.ts';
import { PROVIDERS } from './provider/providers.ts';

const MINUTE_MS = 60_000;
/** The most that a provider is asked for one message at a time. */
const MAX_ASKS = 10;
/** After so many tries, of about three days, a message is given up. */
const MAX_TRIES = 12;

const NO_KEY = 'The store has no API key to ask the provider with.';

type MessageFields = Partial<typeof storeMessages.$inferInsert>;

/** Saves what has become of a message, and drops its body if what was `taken` is about somebody who was erased. */
const save = async (
  ctx: Ctx,
  { id, storeId }: StoreMessageRow,
  fields: MessageFields,
  taken: StoreFact[] = [],
): Promise<void> => {
  await ctx.db.batch([
    ctx.db.update(storeMessages).set(fields).where(eq(storeMessages.id, id)),
    ...(taken.length > 0 ? [dropIfErased(ctx, storeId, id, taken)] : []),
  ]);
};

const readAgain = async (ctx: Ctx, store: StoreRow, row: StoreMessageRow): Promise<StoreReading | null> => {
  if (row.body === null) return null;
  const body = await unseal(settingsOf(ctx.env).sealing, row.body, [row.accountId, row.id, 'body']);
  return PROVIDERS[store.provider].read({ body, topic: row.topic });
};

/** How long to wait before something that has failed is tried again, which grows with each try. */
export const againAfter = (tries: number): number => Math.min(MINUTE_MS * 4 ** tries, DAY_MS / 4);

/** Asks what is `left` again later. */
const postpone = async (
  ctx: Ctx,
  row: StoreMessageRow,
  left: string[],
  problem: string,
): Promise<boolean> => {
  const { tries } = row;
  const readAt = tries + 1 >= MAX_TRIES ? null : Date.now() + againAfter(tries);
  await save(ctx, row, { asks: left, readAt, tries: tries + 1, problem });
  return true;
};

/**
 * Takes facts of a message. Returns false if some are left. An earlier try may have died after its commit, before the gate had
 * read the change: then nothing is new, and the message is read only once every verify sees it.
 */
const take = async (
  ctx: Ctx,
  store: StoreRow,
  { id }: StoreMessageRow,
  facts: StoreFact[],
  isFirstTry: boolean,
): Promise<boolean> => {
  if (!(await takeFacts(ctx, store, facts, id))) return false;
  if (!isFirstTry) await pull(ctx);
  return true;
};

/** Whether the provider would answer nothing else now, either. */
const isOfAllAsks = (error: unknown): boolean =>
  error instanceof StoreApiError && (error.status === null || error.status === 429 || error.status >= 500);

/**
 * Asks the provider what the body doesn't say. An ask that fails moves behind the others, so that none waits for it. The pass counts
 * as a try only if nothing was answered.
 */
const askAll = async (ctx: Ctx, store: StoreRow, row: StoreMessageRow, asks: string[]): Promise<boolean> => {
  const { api } = PROVIDERS[store.provider];
  const access = await openApi(ctx.env, store, api);
  if (!access || !api?.ask) {
    const problem = asks.every((ask) => ask.startsWith('?')) ? null : NO_KEY;
    await save(ctx, row, { readAt: null, asks, problem });
    return true;
  }
  const taken: StoreFact[] = [];
  let left = asks;
  let isAnswered = false;
  let problem: string | null = null;
  for (const ask of asks.slice(0, MAX_ASKS)) {
    const others = left.filter((one) => one !== ask);
    let facts;
    try {
      facts = await ofConnected(ctx, store, await api.ask(access, ask.replace(/^\?/, '')));
    } catch (error) {
      const isOfProvider = error instanceof StoreApiError;
      if (!isOfProvider) logError('store_ask_failed', error, { account_id: row.accountId });
      problem = isOfProvider ? error.message : 'The provider’s answer could not be read.';
      left = [...others, ask];
      if (isOfAllAsks(error)) break;
      continue;
    }
    isAnswered = true;
    if (!(await take(ctx, store, row, facts, false))) break;
    taken.push(...facts);
    left = others;
  }
  if (problem !== null && !isAnswered) return postpone(ctx, row, left, problem);
  const isDone = left.length === 0;
  const fields = { asks: left, readAt: isDone ? null : Date.now(), ...(isDone && { problem: null }) };
  await save(ctx, row, fields, taken);
  return isDone;
};

/**
 * Takes what a message says, and asks the provider for the rest unless the message has just come, since providers don't wait long
 * for an answer. Returns false if something is due at once.
 */
export const readMessage = async (
  ctx: Ctx,
  store: StoreRow,
  row: StoreMessageRow,
  justCame: StoreReading | null = null,
): Promise<boolean> => {
  if (row.asks !== null) return justCame ? false : askAll(ctx, store, row, row.asks);
  const reading = justCame ?? (await readAgain(ctx, store, row));
  if (reading?.kind !== 'facts') {
    const problem = reading?.kind === 'unreadable' ? reading.problem : null;
    await save(ctx, row, { readAt: null, problem });
    return true;
  }
  const { asks = [], reachesBack } = reading;
  const facts = reachesBack ? await ofConnected(ctx, store, reading.facts) : reading.facts;
  if (!(await take(ctx, store, row, facts, justCame !== null && row.times === 1))) {
    if (row.body === null) throw new AppError('unavailable');
    await save(ctx, row, { readAt: Date.now() });
    return false;
  }
  if (asks.length === 0) {
    await save(ctx, row, { readAt: null, asks, problem: null }, facts);
    return true;
  }
  await save(ctx, row, { asks, readAt: Date.now() }, facts);
  return justCame ? false : askAll(ctx, store, { ...row, asks }, asks);
};
