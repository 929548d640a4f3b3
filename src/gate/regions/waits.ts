import { createLru } from '../../shared/lru.ts';
import type { Region } from '../../shared/rules/regions.ts';
import type { AnsweredIn, VerifyReply } from '../replies.ts';
import type { Wait } from './traffic.ts';

const WAITS_IN_MEMORY = 10_000;

/** The last wait of this isolate, by account and region. */
const lastWaits = createLru<Wait>(WAITS_IN_MEMORY);

/**
 * Measures how long an answer takes. The next call for the same account takes the wait along, so that measuring costs no call of
 * its own. A wait that no call takes along is lost.
 */
export const measured = async (
  accountId: string,
  region: Region | null,
  ask: (lastWait: Wait | null) => Promise<VerifyReply & AnsweredIn>,
): Promise<VerifyReply & AnsweredIn> => {
  if (region === null) return ask(null);
  const name = `${accountId}@${region}`;
  const lastWait = lastWaits.get(name) ?? null;
  lastWaits.delete(name);
  const sentMs = Date.now();
  const reply = await ask(lastWait);
  if (reply.refused === null)
    lastWaits.set(name, { answeredIn: reply.region ?? null, ms: Date.now() - sentMs });
  return reply;
};
