// The events of licenses that are about to expire or have expired. The scheduled work sends each event once, on its day. In each
// account it looks up the licenses of four last days, so all other licenses cost nothing.
import { and, eq, lte, type SQL, sql } from 'drizzle-orm';
import type { AccountDatabase } from '../db/client.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { expiryPass } from '../db/schema.ts';
import { eventChange, insertChanges } from '../gate/feed/write.ts';
import { gateOf } from '../shared/objects/address.ts';
import { addDays, DAY_MS, isoDate } from '../shared/rules/dates.ts';
import { DAYS_BEFORE_EXPIRY, type EventName } from '../shared/rules/events.ts';
import { licenseEvent } from '../shared/text/events.ts';
import { logError } from '../shared/text/log.ts';

/** The most of each that one query reads, so that it doesn't keep other queries waiting. */
const MAX_ACCOUNTS = 2_000;
const MAX_LICENSES = 500;
/** After so many pages, or calls of gates, the next run goes on. One has 1,000 queries and 10,000 calls, and a page takes ten. */
const MAX_PAGES = 40;
const MAX_CALLS = 2_000;
const CALLS_AT_ONCE = 10;

/** The steps of a pass through an account: how many days are left to the licenses that it looks up. */
const STEPS = [...DAYS_BEFORE_EXPIRY, -1];

/** What is to be done next: a day, or the rest of it after a license. */
type Position = typeof expiryPass.$inferSelect;

interface Due {
  id: string;
  accountId: string;
  licenseKey: string;
  customerEmail: string;
  expiresAt: string;
  step: number;
}

/** The only row of the table. */
const ROW = 1;

const startOf = (day: string): Position => ({
  id: ROW,
  day,
  atAccount: '',
  step: 0,
  licenseId: '',
  toldThrough: '',
});

const isAt = ({ day, atAccount, step, licenseId }: Position): SQL | undefined =>
  and(
    eq(expiryPass.id, ROW),
    eq(expiryPass.day, day),
    eq(expiryPass.atAccount, atAccount),
    eq(expiryPass.step, step),
    eq(expiryPass.licenseId, licenseId),
  );

/** Returns null once everything of today has been sent. A new database begins with today. */
const findPosition = async (db: AccountDatabase): Promise<Position | null> => {
  const today = isoDate(Date.now());
  await db.insert(expiryPass).values(startOf(today)).onConflictDoNothing();
  const [position] = await db
    .select()
    .from(expiryPass)
    .where(and(eq(expiryPass.id, ROW), lte(expiryPass.day, today)));
  return position ?? null;
};

/** Reads the next licenses, and the position after them. */
const readNext = async (db: AccountDatabase, position: Position) => {
  const { day, atAccount, step, licenseId } = position;
  const days = STEPS.map((left, number) => sql`(${number}, ${addDays(day, left)})`);
  const [window] = await db.all<{ last: string | null }>(sql`
    SELECT max(id) AS last
    FROM (SELECT id FROM accounts WHERE id > ${atAccount} ORDER BY id LIMIT ${MAX_ACCOUNTS})`);
  const through = window?.last ?? atAccount;
  const due = await db.all<Due>(sql`
    SELECT due.id, due.account_id AS accountId, due.license_key AS licenseKey, due.customer_email AS customerEmail,
      due.expires_at AS expiresAt, days.column1 AS step
    FROM accounts CROSS JOIN (VALUES ${sql.join(days, sql`, `)}) AS days CROSS JOIN licenses AS due INDEXED BY licenses_by_expiry
    WHERE accounts.id >= ${atAccount} AND accounts.id <= ${through} AND (accounts.id > ${atAccount} OR days.column1 >= ${step})
      AND due.account_id = accounts.id AND due.expires_at = days.column2 AND due.status = 'active'
      AND due.id > iif(accounts.id = ${atAccount} AND days.column1 = ${step}, ${licenseId}, '')
    LIMIT ${MAX_LICENSES}`);
  // The day ends only after the last account, because the gates of all accounts that have been passed are told first.
  if (due.length === 0 && through === atAccount) return { due, next: startOf(addDays(day, 1)) };
  const last = due.length === MAX_LICENSES ? due.at(-1) : undefined;
  const place = last
    ? { atAccount: last.accountId, step: last.step, licenseId: last.id }
    : { atAccount: through, step: STEPS.length, licenseId: '' };
  return { due, next: { ...position, ...place, toldThrough: atAccount } };
};

const eventOf = (license: Due, nowMs: number) => {
  const left = STEPS[license.step] ?? 0;
  const { expiresAt: expires_at } = license;
  return left < 0
    ? licenseEvent('license.expired', nowMs, license, { expires_at })
    : licenseEvent('license.expiring', nowMs, license, { expires_at, days_left: left });
};

/** With what the license has by now. Without the last `||`, SQLite would insert the payload as JSON, and not as its text. */
const PAYLOAD = sql`json_set(value ->> 'payload', '$.payload', json_set(value ->> '$.payload.payload',
  '$.license_key', licenses.license_key, '$.customer_email', licenses.customer_email) || '')`;

/**
 * Commits the events with the new position, unless another run has moved it. A license that has been renewed or suspended since
 * it was read has none, and holds up no other.
 */
const send = async (db: AccountDatabase, position: Position, due: Due[], next: Position): Promise<void> => {
  const nowMs = Date.now();
  const changes = due.map((license) => {
    const { id: licenseId, accountId, expiresAt } = license;
    return { ...eventChange(eventOf(license, nowMs)), licenseId, accountId, expiresAt };
  });
  const rest = sql`
    CROSS JOIN licenses ON licenses.account_id = value ->> 'accountId' AND licenses.id = value ->> 'licenseId'
      AND licenses.expires_at = value ->> 'expiresAt' AND licenses.status = 'active'
    WHERE (SELECT true FROM ${expiryPass} WHERE ${isAt(position)})`;
  const feedOf = { db, accountId: sql`licenses.account_id` };
  const move = db.update(expiryPass).set(next).where(isAt(position));
  // The position comes last, because each insert compares it.
  await db.batch([...insertChanges(feedOf, changes, { payload: PAYLOAD, rest }), move] as [typeof move]);
};

/** The events that a pass sends, which a gate gets that was out of reach on the day before, too. */
const NAMES = ['license.expiring', 'license.expired'] satisfies EventName[];
const TOLD_AGAIN_MS = 2 * DAY_MS;

/**
 * Lets gates take the events of the last page, and returns how many were called. The last row that a gate has applied stays in the
 * feed, and is mostly an event: without its name and age, the pass would call the gate of nearly every account each day.
 */
const tell = async ({ env, db }: DatabaseCtx, { atAccount, toldThrough }: Position): Promise<number> => {
  const told = await db.all<{ id: string }>(sql`
    SELECT DISTINCT account_id AS id FROM feed
    WHERE account_id >= ${toldThrough} AND account_id <= ${atAccount} AND kind = 'event'
      AND created_at > ${Date.now() - TOLD_AGAIN_MS} AND payload ->> 'name' ${inJson(NAMES)}`);
  const pull = async (id: string) => {
    try {
      await gateOf(env, id).pull(null);
    } catch (error) {
      // It takes the events with the account's next change.
      logError('gate_pull_failed', error, { account_id: id });
    }
  };
  for (let i = 0; i < told.length; i += CALLS_AT_ONCE)
    await Promise.all(told.slice(i, i + CALLS_AT_ONCE).map(({ id }) => pull(id)));
  return told.length;
};

/** Sends what is due. Returns whether more is: each page that was sent, by this run or by another, leaves less. */
export const sendExpiryEvents = async (ctx: DatabaseCtx): Promise<boolean> => {
  for (let pages = 0, calls = 0; pages < MAX_PAGES && calls < MAX_CALLS; pages++) {
    const position = await findPosition(ctx.db);
    if (!position) return false;
    calls += await tell(ctx, position);
    const { due, next } = await readNext(ctx.db, position);
    await send(ctx.db, position, due, next);
  }
  return true;
};
