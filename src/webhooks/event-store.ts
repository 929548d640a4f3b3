import { createLru } from '../shared/memory/lru.ts';
import type { WebhookEvent } from '../shared/text/events.ts';

/** Events per row. Larger blocks would hardly save rows, but would take longer to parse. */
const BLOCK_SIZE = 50;
/** Blocks kept parsed. Deliveries are mostly claimed in the order of their events. */
const PARSED_BLOCKS = 4;

const byId = (a: WebhookEvent, b: WebhookEvent) => (a.id < b.id ? -1 : 1);

const parse = (events: string) => JSON.parse(events) as WebhookEvent[];

/** Stores events in blocks, one row each. A block's key is its greatest event id. */
export const openEvents = (sql: SqlStorage) => {
  const parsedBlocks = createLru<WebhookEvent[]>(PARSED_BLOCKS);

  const readBlock = (blockId: string): WebhookEvent[] => {
    const parsed = parsedBlocks.get(blockId);
    if (parsed) return parsed;
    const [row] = sql.exec<{ events: string }>('SELECT events FROM event_blocks WHERE last_id = ?', blockId);
    const events = row ? parse(row.events) : [];
    parsedBlocks.set(blockId, events);
    return events;
  };

  /**
   * Returns the ids of the events that have arrived before, at least those in the given range. An erased event is one of
   * them: if it arrived again, it would be delivered, and its block could get the key of another block.
   */
  const arrivedIds = (firstId: string, lastId: string): Set<string> => {
    const blocks = sql.exec<{ events: string }>(
      'SELECT events FROM event_blocks WHERE last_id >= ? AND first_id <= ?',
      firstId,
      lastId,
    );
    const stored = [...blocks].flatMap(({ events }) => parse(events));
    const erased = sql.exec<{ id: string }>(
      'SELECT id FROM erased_events WHERE id BETWEEN ? AND ?',
      firstId,
      lastId,
    );
    return new Set([...stored, ...erased].map(({ id }) => id));
  };

  return {
    /** Returns the events of a JSON array that have not arrived before, in blocks. */
    newBlocks: (json: string): WebhookEvent[][] => {
      const events = [...new Map(parse(json).map((event) => [event.id, event])).values()].toSorted(byId);
      const [first, last] = [events[0], events.at(-1)];
      if (!first || !last) return [];
      const known = arrivedIds(first.id, last.id);
      const added = events.filter(({ id }) => !known.has(id));
      return Array.from({ length: Math.ceil(added.length / BLOCK_SIZE) }, (_, i) =>
        added.slice(i * BLOCK_SIZE, (i + 1) * BLOCK_SIZE),
      );
    },

    /** Inserts a block and returns its id. The ids of its deliveries let retention find them without an index. */
    insertBlock: (events: WebhookEvent[], deliveryIds: string[]): string => {
      const [firstId = '', blockId = ''] = [events[0]?.id, events.at(-1)?.id];
      sql.exec(
        `INSERT INTO event_blocks (last_id, first_id, size, first_delivery_id, last_delivery_id, events)
         VALUES (?, ?, ?, ?, ?, ?)`,
        blockId,
        firstId,
        events.length,
        deliveryIds[0] ?? null,
        deliveryIds.at(-1) ?? null,
        JSON.stringify(events),
      );
      return blockId;
    },

    get: (blockId: string, id: string): WebhookEvent => {
      const event = readBlock(blockId).find((candidate) => candidate.id === id);
      if (!event) throw new Error(`The event ${id} of a delivery is missing.`);
      return event;
    },

    /**
     * Returns those of the next blocks that contain one of the texts, in any case, and the last block that was read, or null
     * if it was the last one.
     */
    pageContaining: (texts: string[], afterId: string, limit: number) => {
      const lower = JSON.stringify(texts.map((text) => text.toLowerCase()));
      const rows = sql
        .exec<{ id: string; events: string | null }>(
          // With a LIMIT, SQLite computes lower() once for each block, and not again for each text.
          `SELECT last_id AS id, iif(EXISTS (
             SELECT 1 FROM (SELECT lower(events) AS text LIMIT 1) CROSS JOIN json_each(?2) WHERE instr(text, value)
           ), events, NULL) AS events
           FROM event_blocks WHERE last_id > ?1 ORDER BY last_id LIMIT ?3`,
          afterId,
          lower,
          limit,
        )
        .toArray();
      const blocks = rows.flatMap(({ id, events }) =>
        events === null ? [] : [{ id, events: parse(events) }],
      );
      return { blocks, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
    },

    /** Replaces the events of a block, or deletes the block if there are none. */
    replaceBlock: (blockId: string, events: WebhookEvent[], erasedIds: string[]) => {
      parsedBlocks.delete(blockId);
      sql.exec(
        'INSERT OR IGNORE INTO erased_events SELECT value FROM json_each(?)',
        JSON.stringify(erasedIds),
      );
      if (events.length === 0) sql.exec('DELETE FROM event_blocks WHERE last_id = ?', blockId);
      else {
        sql.exec(
          'UPDATE event_blocks SET events = ?, size = ? WHERE last_id = ?',
          JSON.stringify(events),
          events.length,
          blockId,
        );
      }
    },

    /**
     * Forgets erased events with lower ids, and the oldest of the others beyond `maxErased`. Those that blocks are still named
     * after stay.
     */
    forgetErased: (beforeId: string, maxErased: number) => {
      sql.exec(
        `DELETE FROM erased_events WHERE id NOT IN (SELECT last_id FROM event_blocks) AND id < max(?, coalesce(
           (SELECT id FROM erased_events ORDER BY id DESC LIMIT 1 OFFSET ?), ''))`,
        beforeId,
        maxErased - 1,
      );
    },

    isEmpty: (): boolean =>
      sql.exec('SELECT id FROM erased_events UNION ALL SELECT last_id FROM event_blocks LIMIT 1').toArray()
        .length === 0,

    /** Returns the newest events. Each block's key is an event, so no more blocks than events have to be read. */
    recent: (limit: number): WebhookEvent[] =>
      [
        ...sql.exec<{ events: string }>(
          'SELECT events FROM event_blocks ORDER BY last_id DESC LIMIT ?',
          limit,
        ),
      ]
        .flatMap(({ events }) => parse(events))
        .toSorted(byId)
        .slice(-limit)
        .toReversed(),
  };
};

export type Events = ReturnType<typeof openEvents>;
