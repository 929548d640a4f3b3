import { coalesce, scheduleOnce } from '../../shared/objects/coalesce.ts';
import type { WebhookEvent } from '../../shared/text/events.ts';
import { logError } from '../../shared/text/log.ts';
import { outboxOf } from '../../shared/objects/address.ts';
import type { Outgoing } from './outgoing.ts';
import type { Upkeep } from '../home/upkeep.ts';

/** Batching delay before calling the outbox, so that many events share one call. */
const BATCH_DELAY_MS = 50;

const WANTS_VERIFIED = 'wants_verified';

interface Parts {
  ctx: DurableObjectState;
  env: Env;
  accountId: string;
  outgoing: Outgoing;
  upkeep: Pick<Upkeep, 'armForEvents'>;
}

/** Forwards the gate's events to the account's outbox. */
export const openRelay = ({ ctx, env, accountId, outgoing, upkeep }: Parts) => {
  const { kv } = ctx.storage;
  /** Null until the outbox has answered. Until then, the gate creates `license.verified` events just in case. */
  let wantsVerified = kv.get<boolean>(WANTS_VERIFIED) ?? null;

  const setWantsVerified = (wanted: boolean) => {
    if (wanted === wantsVerified) return;
    wantsVerified = wanted;
    kv.put(WANTS_VERIFIED, wanted);
  };

  /**
   * Forwards events, oldest first. A row is deleted once the outbox has stored its events. Events that arrive in the
   * meantime wait for the next batching delay: otherwise, a busy account's batches would have few events each.
   */
  const forward = coalesce(async () => {
    const lastSeq = outgoing.lastSeq();
    for (let next = outgoing.next(); next; next = next.throughSeq < lastSeq ? outgoing.next() : null) {
      const answer = await outboxOf(env, accountId).accept(next.events);
      if (wantsVerified === null) setWantsVerified(answer.wantsVerified);
      outgoing.remove(next.throughSeq);
    }
  });
  const forwardBatch = scheduleOnce(forward, BATCH_DELAY_MS);

  return {
    setWantsVerified,
    wantsVerified: () => wantsVerified,

    /** Queues the event of a valid verify for the current commit, unless no endpoint wants it. */
    addVerified: (createEvent: () => WebhookEvent) => {
      if (wantsVerified !== false) outgoing.add(createEvent());
    },

    /** Forwards the waiting events now. */
    forward: async () => {
      if (!outgoing.isEmpty()) await forward();
    },

    /** Forwards events after the batching delay. The alarm forwards them if that fails. */
    soon: async () => {
      if (outgoing.isEmpty()) return;
      await upkeep.armForEvents();
      const forwarded = forwardBatch()?.catch((error: unknown) => {
        logError('relay_failed', error, { account_id: accountId });
      });
      if (forwarded) ctx.waitUntil(forwarded);
    },
  };
};

export type Relay = ReturnType<typeof openRelay>;
