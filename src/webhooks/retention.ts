import type { ObjectContext } from '../shared/objects/context.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { RETENTION_DAYS } from '../shared/rules/webhooks.ts';
import { firstIdAt } from '../shared/text/ids.ts';
import type { Events } from './event-store.ts';
import { openHourlyCounts } from './hours.ts';

const RETENTION_MS = RETENTION_DAYS * DAY_MS;
/** Older events are deleted beyond this number, unless they have a pending delivery, and so are the ids of erased ones. */
const MAX_EVENTS = 50_000;
/** Events scanned per alarm, about. A sweep spans several alarms, so that it doesn't block other calls. */
const BATCH_SIZE = 1_000;
/** While an endpoint is down its backlog can't be deleted, so scanning it on every alarm would be wasteful. */
const SWEEP_INTERVAL_MS = 10 * 60_000;

/** Returns an id that sorts after the blocks to delete. Blocks are deleted whole, so the oldest kept block stays. */
const endOfOldBlocks = (sql: SqlStorage, nowMs: number): string => {
  const endByAge = firstIdAt('evt', nowMs - RETENTION_MS);
  const { endByCount } = sql
    .exec<{ endByCount: string | null }>(
      `SELECT max(last_id) AS endByCount FROM (
         SELECT last_id, sum(size) OVER (ORDER BY last_id DESC ROWS UNBOUNDED PRECEDING) AS events
         FROM event_blocks WHERE last_id >= ?
       ) WHERE events >= ?`,
      endByAge,
      MAX_EVENTS,
    )
    .one();
  return endByCount ?? endByAge;
};

type Block = { id: string; size: number; first: string | null; last: string | null; isPending: number };

/** Deletes old events with their deliveries when the alarm comes. */
export const openRetention = (
  { ctx, alarm }: ObjectContext,
  events: Pick<Events, 'forgetErased' | 'isEmpty'>,
): void => {
  const { sql } = ctx.storage;
  const hourlyCounts = openHourlyCounts(sql);
  let nextSweepMs = 0;
  /** The id range that the current sweep has not scanned yet. */
  let remaining: { after: string; before: string } | null = null;

  const deleteBlock = ({ id, first, last }: Block) => {
    sql.exec(
      `DELETE FROM deliveries WHERE endpoint_id IN (SELECT id FROM endpoints) AND id BETWEEN ? AND ? AND block_id = ?`,
      first,
      last,
      id,
    );
    sql.exec('DELETE FROM event_blocks WHERE last_id = ?', id);
  };

  /** One at a time: the deliveries of a block that isn't scanned are not read. */
  const nextBlock = (after: string, before: string): Block | undefined =>
    sql
      .exec<Block>(
        `SELECT last_id AS id, size, first_delivery_id AS first, last_delivery_id AS last, EXISTS (
           SELECT 1 FROM deliveries WHERE endpoint_id IN (SELECT id FROM endpoints)
           AND id BETWEEN first_delivery_id AND last_delivery_id AND block_id = last_id AND status = 'pending'
         ) AS isPending
         FROM event_blocks WHERE last_id > ? AND last_id < ? ORDER BY last_id LIMIT 1`,
        after,
        before,
      )
      .toArray()[0];

  /** Deletes old blocks with their deliveries, unless one is pending. */
  const sweep = (nowMs: number): void => {
    if (nowMs < nextSweepMs) return;
    const { after, before } = remaining ?? { after: '', before: endOfOldBlocks(sql, nowMs) };
    let scanned = 0;
    let lastId = after;
    let block = nextBlock(after, before);
    while (block) {
      if (!block.isPending) deleteBlock(block);
      scanned += block.size;
      lastId = block.id;
      block = scanned < BATCH_SIZE ? nextBlock(lastId, before) : undefined;
    }
    hourlyCounts.deleteBefore(nowMs - RETENTION_MS);
    // An event that is older than those that are kept would be delivered if it arrived again, erased or not.
    events.forgetErased(before, MAX_EVENTS);
    remaining = scanned >= BATCH_SIZE ? { after: lastId, before } : null;
    if (!remaining) nextSweepMs = nowMs + SWEEP_INTERVAL_MS;
  };

  alarm.add({
    failure: 'outbox_alarm_failed',
    dueMs: (nowMs) => (remaining ? nowMs : events.isEmpty() ? null : nowMs + DAY_MS),
    run: sweep,
  });
};
