import { outboxOf } from '../../shared/objects/address.ts';
import { coalesce, scheduleOnce } from '../../shared/objects/coalesce.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { WebhookEvent } from '../../shared/text/events.ts';
import { logError } from '../../shared/text/log.ts';

/** A stored value is limited to 2 MB, and an event has a few hundred characters. */
const ROW_EVENTS = 200;
const BATCH_LENGTH = 256 * 1_024;
/** Rows forwarded at once. Each row holds the events of some commits, or a part of one's. */
const BATCH_ROWS = 50;

/** The most events, and characters, in the row of the counters. Each commit writes them, so the row must fit into a page. */
const KEPT_EVENTS = 6;
const KEPT_LENGTH = 2_000;

/** Batching delay before calling the outbox, so that many events share one call. */
const BATCH_DELAY_MS = 50;
/** The alarm forwards events whose batch was lost, and clears the row of the counters. It is set once for all events of this long. */
const ALARM_MS = 60_000;

/** The step of the tables that lets the row of the counters keep events. */
export const EVENTS_OF_COUNTERS = "ALTER TABLE recent_counters ADD COLUMN events TEXT NOT NULL DEFAULT ''";

const WANTS_VERIFIED = 'wants_verified';

/** Lets a restored gate create `license.verified` events until the restored outbox has told whether anybody wants them. */
export const forgetWantsVerified = (kv: SyncKvStorage) => kv.delete(WANTS_VERIFIED);

/** What the row of the counters has of the outgoing events. */
export interface KeptEvents {
  /** Whether a commit has to write the row for them. */
  hasNew: () => boolean;
  /** Adds the events of a commit, and returns the text that the commit stores. */
  takeText: () => string;
}

/**
 * Events waiting to be forwarded to the outbox. A few wait in the row of the counters, which each commit writes anyway. More
 * than a few get a row of their own, which is deleted once the outbox has stored them.
 */
export const openOutgoing = (sql: SqlStorage) => {
  let unwritten: WebhookEvent[] = [];
  const [stored] = sql.exec<{ events: string }>("SELECT events FROM recent_counters WHERE events <> ''");
  /** Those in the row of the counters that the outbox may lack. */
  let kept = stored ? (JSON.parse(stored.events) as WebhookEvent[]) : [];
  /** Whether the row of the counters has events that the outbox has. The next commit drops them. */
  let isStale = false;
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

  const keptText = () => (kept.length === 0 ? '' : JSON.stringify(kept));

  const takeText = (): string => {
    isStale = false;
    kept.push(...unwritten);
    unwritten = [];
    const text = kept.length > KEPT_EVENTS ? null : keptText();
    if (text !== null && text.length <= KEPT_LENGTH) return text;
    insert(kept);
    kept = [];
    return '';
  };

  const isEmpty = () => lastSeq === 0 && kept.length === 0;

  return {
    insert,
    kept: { hasNew: () => unwritten.length > 0, takeText } satisfies KeptEvents,

    /** Queues an event for the commit of the call that created it. */
    add: (event: WebhookEvent) => {
      unwritten.push(event);
    },

    isEmpty,
    lastSeq: () => lastSeq,
    /** Whether anything is stored, forwarded or not. */
    hasTraces: () => !isEmpty() || isStale,

    /** Returns the next events as one JSON array, which the outbox accepts as it is. */
    next: (): Batch | null => {
      if (isEmpty()) return null;
      const rows = sql.exec<{ seq: number; events: string }>(
        'SELECT seq, events FROM outgoing ORDER BY seq LIMIT ?',
        BATCH_ROWS,
      );
      const texts = kept.length > 0 ? [keptText()] : [];
      let throughSeq = 0;
      let length = 0;
      for (const { seq, events } of rows) {
        length += events.length;
        if (throughSeq > 0 && length > BATCH_LENGTH) break;
        throughSeq = seq;
        texts.push(events);
      }
      return { events: `[${texts.map((text) => text.slice(1, -1)).join(',')}]`, throughSeq, kept: [...kept] };
    },

    /** Removes a batch that the outbox has stored, as part of the current transaction. */
    remove: ({ throughSeq, kept: forwarded }: Batch) => {
      if (throughSeq > 0) sql.exec('DELETE FROM outgoing WHERE seq <= ?', throughSeq);
      if (throughSeq === lastSeq) lastSeq = 0;
      if (forwarded.length === 0) return;
      kept = kept.filter((event) => !forwarded.includes(event));
      isStale = true;
    },

    /** Drops what the outbox has from the row of the counters, as part of the current transaction. */
    clear: () => {
      if (!isStale) return;
      isStale = false;
      sql.exec('UPDATE recent_counters SET events = ?', keptText());
    },
  };
};

interface Batch {
  events: string;
  /** The last of its rows, or 0. */
  throughSeq: number;
  /** Those from the row of the counters. */
  kept: WebhookEvent[];
}

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
      const batch = next;
      const answer = await outboxOf(env, accountId).accept(batch.events);
      journal.write(() => {
        if (wantsVerified === null) setWantsVerified(answer.wantsVerified);
        outgoing.remove(batch);
      });
    }
  });
  const forwardSoon = scheduleOnce(forwardAll, BATCH_DELAY_MS);

  /** Forwards the waiting events now, and keeps none of them. */
  const forward = async () => {
    if (!outgoing.isEmpty()) await forwardAll();
    journal.write(outgoing.clear);
  };

  journal.add({
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
      await forward();
      dueMs = outgoing.hasTraces() ? Date.now() + ALARM_MS : null;
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
