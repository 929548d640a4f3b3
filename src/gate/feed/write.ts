import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { AccountDatabase } from '../../db/client.ts';
import { jsonChunks, jsonValues } from '../../db/json-rows.ts';
import { feed, type FEED_KINDS } from '../../db/schema.ts';
import { selectRow } from '../../db/select-row.ts';
import type { WebhookEvent } from '../../shared/text/events.ts';

// What a gate copies changes in D1 together with a row of the feed. There are two doors: the Worker's `commit`, which
// announces the change to the gate, and `commitUnannounced`. Events that change no copy can enter by `insertChanges` alone.

export type Statement = BatchItem<'sqlite'>;

/** A row that the account's gate must read again, or an event that it must forward. */
export interface FeedChange {
  kind: (typeof FEED_KINDS)[number];
  ref: string;
  payload?: WebhookEvent;
}

/** A feed row for an event, to be committed together with its cause. */
export const eventChange = (event: WebhookEvent): FeedChange => ({
  kind: 'event',
  ref: event.id,
  payload: event,
});

/** The feed of an account. */
interface FeedOf {
  db: AccountDatabase;
  accountId: string;
}

interface FeedRows {
  /** In place of the change's own. */
  payload?: SQL;
  /** What follows `FROM json_each(…)`, in which a change is a `value`. It can leave some out. */
  rest?: SQL;
}

/** Inserts feed rows. They are sent as JSON, because D1 binds at most 100 values. A null in place of the account fails them. */
export const insertChanges = (
  { db, accountId }: Omit<FeedOf, 'accountId'> & { accountId: string | SQL },
  changes: FeedChange[],
  { payload = sql`value ->> 'payload'`, rest = sql`` }: FeedRows = {},
) =>
  jsonChunks(changes).map((json) =>
    db.insert(feed).select(sql`
      ${selectRow(feed, { ...jsonValues('kind', 'ref'), payload, seq: null, accountId, createdAt: Date.now() })}
      FROM json_each(${json}) ${rest}`),
  );

/**
 * Commits a change of which the gate isn't told beforehand. It doesn't look for it by itself, so the caller lets it pull next, and
 * repeats all of it if it dies before.
 */
export const commitUnannounced = async (
  account: FeedOf,
  statements: Statement[],
  changes: [FeedChange, ...FeedChange[]],
): Promise<void> => {
  const [first, ...others] = [...statements, ...insertChanges(account, changes)];
  if (first) await account.db.batch([first, ...others]);
};
