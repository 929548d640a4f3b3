import { outboxOf } from '../../shared/objects/address.ts';
import { coalesce, scheduleOnce } from '../../shared/objects/coalesce.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { WebhookEvent } from '../../shared/text/events.ts';
import { logError } from '../../shared/text/log.ts';

/** A stored value is limited to 2 MB, and an event has a few hundred characters. */
const ROW_EVENTS = 200;
const BATCH_LENGTH = 256 * 1_024;
/** Rows forwarded at once. Each row holds the events of one commit, or a part of them. */
const BATCH_ROWS = 50;

/** Batching delay before calling the outbox, so that many events share one call. */
const BATCH_DELAY_MS = 50;
/** The alarm forwards events whose batch was lost. It is set once for all events of this long. */
const ALARM_MS = 10_000;

const WANTS_VERIFIED = 'wants_verified';

/** Lets a restored gate create `license.verified` events until the restored outbox has told whether anybody wants them. */
export const forgetWantsVerified = (kv: SyncKvStorage) => kv.delete(WANTS_VERIFIED);

/** Events waiting to be forwarded to the outbox: one row per commit, deleted once the outbox has stored it. */
export const openOutgoing = (sql: SqlStorage) => {
  let unwritten: WebhookEvent[] = [];
  /** The newest row, or 0 if there is none. */
  let { lastSeq } = sql
    .exec<{ lastSeq: number }>('SELECT coalesce(max(seq), 0) AS lastSeq FROM outgoing')
    .one();

  /** Inserts events as part of the current transaction. */
  const insert = (events: WebhookEvent[]) => {
    for (let from = 0; from < events.length; from += ROW_EVENTS) {
      const row = events.slice(from, from + ROW_EVENTS);
      lastSeq++;
      sql.exec('INSERT INTO outgoing (seq, events) VALUES (?, ?)', lastSeq, JSON.stringify(row));
    }
  };

  return {
    insert,

    /** Queues an event for the commit of the call that created it. */
    add: (event: WebhookEvent) => {
      unwritten.push(event);
    },

    write: () => {
      insert(unwritten);
      unwritten = [];
    },

    isEmpty: () => lastSeq === 0,
    lastSeq: () => lastSeq,

    /** Returns the next events as one JSON array, which the outbox accepts as it is. */
    next: (): { events: string; throughSeq: number } | null => {
      const rows = sql
        .exec<{ seq: number; events: string }>(
          'SELECT seq, events FROM outgoing ORDER BY seq LIMIT ?',
          BATCH_ROWS,
        )
        .toArray();
      const [first, ...others] = rows;
      if (!first) return null;
      const taken = [first];
      let length = first.events.length;
      for (const row of others) {
        length += row.events.length;
        if (length > BATCH_LENGTH) break;
        taken.push(row);
      }
      return {
        events: `[${taken.map(({ events }) => events.slice(1, -1)).join(',')}]`,
        throughSeq: taken.at(-1)?.seq ?? first.seq,
      };
    },

    remove: (throughSeq: number) => {
      sql.exec('DELETE FROM outgoing WHERE seq <= ?', throughSeq);
      if (throughSeq === lastSeq) lastSeq = 0;
    },
  };
};

export type Outgoing = ReturnType<typeof openOutgoing>;

/** Forwards the object's events to the account's outbox. */
export const openRelay = ({ ctx, env, accountId, journal, alarm }: ObjectContext, outgoing: Outgoing) => {
  const { kv } = ctx.storage;
  /** Null until the outbox has answered. Until then, the gate creates `license.verified` events just in case. */
  let wantsVerified = kv.get<boolean>(WANTS_VERIFIED) ?? null;
  let dueMs = outgoing.isEmpty() ? null : Date.now() + ALARM_MS;

  /** Stores whether anybody wants `license.verified`, as part of the current transaction. */
  const setWantsVerified = (wanted: boolean) => {
    if (wanted === wantsVerified) return;
    wantsVerified = wanted;
    kv.put(WANTS_VERIFIED, wanted);
  };

  /**
   * Forwards events, oldest first. A row is deleted once the outbox has stored its events. Events that arrive in the
   * meantime wait for the next batching delay: otherwise, a busy account's batches would have few events each.
   */
  const forwardAll = coalesce(async () => {
    const lastSeq = outgoing.lastSeq();
    for (let next = outgoing.next(); next; next = next.throughSeq < lastSeq ? outgoing.next() : null) {
      const { throughSeq, events } = next;
      const answer = await outboxOf(env, accountId).accept(events);
      journal.write(() => {
        if (wantsVerified === null) setWantsVerified(answer.wantsVerified);
        outgoing.remove(throughSeq);
      });
    }
    if (outgoing.isEmpty()) dueMs = null;
  });
  const forwardSoon = scheduleOnce(forwardAll, BATCH_DELAY_MS);

  /** Forwards the waiting events now. */
  const forward = async () => {
    if (!outgoing.isEmpty()) await forwardAll();
  };

  journal.add({
    write: outgoing.write,
    written: () => {
      if (outgoing.isEmpty()) return;
      dueMs ??= Date.now() + ALARM_MS;
      const forwarded = forwardSoon()?.catch((error: unknown) => {
        logError('relay_failed', error, { account_id: accountId });
      });
      if (forwarded) ctx.waitUntil(forwarded);
    },
  });
  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: () => dueMs,
    run: async () => {
      if (!outgoing.isEmpty()) dueMs = Date.now() + ALARM_MS;
      await forward();
    },
  });

  return {
    setWantsVerified,
    wantsVerified: () => wantsVerified,
    /** Whether the outbox still lacks events. */
    hasEvents: () => !outgoing.isEmpty(),
    forward,

    /** Queues the event of a valid verify for the current commit, unless no endpoint wants it. */
    addVerified: (createEvent: () => WebhookEvent) => {
      if (wantsVerified !== false) outgoing.add(createEvent());
    },
  };
};

export type Relay = ReturnType<typeof openRelay>;
