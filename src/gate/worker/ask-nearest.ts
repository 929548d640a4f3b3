import { createLru } from '../../shared/memory/lru.ts';
import { within } from '../../shared/objects/within.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { logError } from '../../shared/text/log.ts';
import { type AnsweredIn, readReply, type ReplyText, type Reply } from '../rules/calls.ts';
import type { Wait } from '../rules/traffic.ts';

// Which branches this isolate knows to be open. Replies say so, and a branch that is gone says so, too.

const BRANCHES_IN_MEMORY = 10_000;
/** A branch that hasn't answered by then is passed over. It gives home less time than this. */
const BRANCH_MS = 3_000;
/** How long no call goes to a branch that has failed, or that has no lease and can't reach home. */
const AVOID_MS = 10_000;

/** When calls may go to a branch again, by account and region. */
const openFromMs = createLru<number>(BRANCHES_IN_MEMORY);

interface Targets {
  /** Null for a call that only home answers. */
  branch: ((region: Region) => Promise<ReplyText>) | null;
  /** `isUncertain` is set if the branch has not answered, and may have counted the call. */
  home: (isUncertain: boolean) => Promise<ReplyText>;
}

/** Lets the caller's branch answer a call if it is open, and home otherwise. Home also answers if the branch can't. */
export const askNearest = async (
  accountId: string,
  region: Region | null,
  { branch, home }: Targets,
): Promise<Reply & AnsweredIn> => {
  if (region === null) return readReply(await home(false));
  const name = `${accountId}@${region}`;
  const fromMs = openFromMs.get(name);
  let isUncertain = false;
  if (branch && fromMs !== undefined && Date.now() >= fromMs) {
    try {
      const reply = readReply(await within(BRANCH_MS, branch(region)));
      if (reply.branch !== region) openFromMs.delete(name);
      if (reply.refused !== 'unavailable') return reply;
      // A branch that can't reach home still answers other calls while it has a lease.
      if (reply.branch !== region) openFromMs.set(name, Date.now() + AVOID_MS);
    } catch (error) {
      logError('branch_unavailable', error, { account_id: accountId, region });
      isUncertain = true;
      openFromMs.set(name, Date.now() + AVOID_MS);
    }
  }
  const reply = readReply(await home(isUncertain));
  if (reply.branch === region && !openFromMs.get(name)) openFromMs.set(name, 0);
  return reply;
};

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
  ask: (lastWait: Wait | null) => Promise<Reply & AnsweredIn>,
): Promise<Reply & AnsweredIn> => {
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
