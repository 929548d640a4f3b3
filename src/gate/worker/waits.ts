import { createLru } from '../../shared/memory/lru.ts';
import type { Region } from '../../shared/rules/regions.ts';
import type { AnsweredIn, VerifyReply } from '../rules/replies.ts';
import type { Wait } from '../rules/traffic.ts';

const WAITS_IN_MEMORY = 10_000;
/** One measured call a second is enough for statistics. More of them would make verify slower. */
const MEASURE_EVERY_MS = 1_000;

interface Measured {
  /** Null until the measured call is answered. */
  wait: Wait | null;
  sentMs: number;
}

/** The call that this isolate measured last, by account and region. */
const lastMeasured = createLru<Measured>(WAITS_IN_MEMORY);

/**
 * Measures how long an answer takes. The next measured call for the same account takes the wait along, so that measuring
 * costs no call of its own. A wait that no call takes along is lost.
 */
export const measured = async (
  accountId: string,
  region: Region | null,
  ask: (lastWait: Wait | null) => Promise<VerifyReply & AnsweredIn>,
): Promise<VerifyReply & AnsweredIn> => {
  if (region === null) return ask(null);
  const name = `${accountId}@${region}`;
  const sentMs = Date.now();
  const last = lastMeasured.get(name);
  if (last && sentMs - last.sentMs < MEASURE_EVERY_MS) return ask(null);
  const now: Measured = { wait: null, sentMs };
  lastMeasured.set(name, now);
  const reply = await ask(last?.wait ?? null);
  if (reply.refused === null) now.wait = { answeredIn: reply.region ?? null, ms: Date.now() - sentMs };
  return reply;
};
