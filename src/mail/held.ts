import { and, asc, eq, gt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { DrizzleD1Database } from 'drizzle-orm/d1';
import { type HeldNoticeRow, heldNotices } from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import { deliver, hasMail } from './deliver.ts';
import { sealLink, unsealLink } from './held-link.ts';
import type { Letter } from './letter.ts';
import { severalNotices } from './templates.ts';

// Notices that are not sent yet: those that a request is sending, those beyond their recipient's limit, and those that could not
// be sent. What happens within an hour becomes one email, so that neither a flood hides what has happened nor the emails about
// it are one.

/** Any of the databases. */
export interface MailCtx {
  env: Env;
  db: DrizzleD1Database;
}

/** How long a request has to send what it has committed, before the scheduled work does. */
const SENDING_MS = 60_000;
const soon = () => Date.now() + SENDING_MS;

/** An address that was never proven may be a stranger's, so it gets what is beyond its limit once a day. */
const later = ({ isUnverified }: Letter) => Date.now() + (isUnverified ? DAY_MS : HOUR_MS);

/** Whose row it is, and which of theirs. */
export type HeldKey = Pick<HeldNoticeRow, 'email' | 'subject'>;

const isRow = ({ email, subject }: HeldKey) =>
  and(eq(heldNotices.email, email), eq(heldNotices.subject, subject));

/** In an object, because a statement that a promise resolves with is executed. */
const insert = async (
  { env, db }: MailCtx,
  { email, subject }: HeldKey,
  { content: sent, accountId }: Letter,
  dueAt: number,
  condition: SQL,
) => {
  const content = await sealLink(settingsOf(env).sealing, sent, email);
  const row = selectRow(heldNotices, { email, subject, accountId, content, times: 1, dueAt, giveUpAt: null });
  const statement = db
    .insert(heldNotices)
    .select(sql`${row} WHERE ${condition}`)
    .onConflictDoUpdate({
      target: [heldNotices.email, heldNotices.subject],
      // A notice that joins an earlier one is due as soon, and is kept as long, as a new row would be.
      set: {
        accountId,
        content,
        times: sql`${heldNotices.times} + 1`,
        dueAt: sql`min(${heldNotices.dueAt}, excluded.due_at)`,
        giveUpAt: null,
      },
    });
  return { statement };
};

const aloneKey = ({ to, content }: Letter): HeldKey => ({
  email: to,
  subject: `${content.subject} ${randomBase62(12)}`,
});

/** Returns the statement that holds a notice for the request that sends it, if the condition is met. It has a row of its own. */
export const hold = async (ctx: MailCtx, letter: Letter, condition: SQL) => {
  const key = aloneKey(letter);
  return { key, ...(await insert(ctx, key, letter, soon(), condition)) };
};

/** Returns the statement that holds a notice for later. It is merged, unless it has a way in, which no other email has. */
export const holdForLater = (ctx: MailCtx, letter: Letter) => {
  const { to: email, content } = letter;
  const hasWayIn = content.link?.url.includes('#token=');
  const key = hasWayIn ? aloneKey(letter) : { email, subject: content.subject };
  return insert(ctx, key, letter, later(letter), sql`true`);
};

/** Begins to send a notice. Returns whether it is still the request's, and not the scheduled work's. */
export const take = async ({ db }: MailCtx, key: HeldKey): Promise<boolean> => {
  const taken = await db
    .update(heldNotices)
    .set({ dueAt: soon() })
    .where(and(isRow(key), gt(heldNotices.dueAt, Date.now())))
    .returning({ times: heldNotices.times });
  return taken.length > 0;
};

/** Returns the statement that ends what was sent. */
export const release = ({ db }: MailCtx, key: HeldKey) => db.delete(heldNotices).where(isRow(key));

/** In one query, however many there are. Notices that happen while the email is sent stay for the next one. */
const forget = async ({ db }: MailCtx, email: string, sent: HeldNoticeRow[]): Promise<void> => {
  const rows = JSON.stringify(sent.map(({ subject, times }) => ({ subject, times })));
  const isSent = sql`(subject, times) IN (SELECT value ->> 'subject', value ->> 'times' FROM json_each(${rows}))`;
  await db.delete(heldNotices).where(and(eq(heldNotices.email, email), isSent));
};

/** Sends what is held for an address, but for what a request is sending. */
const sendAllTo = async (ctx: MailCtx, email: string): Promise<void> => {
  const { dueAt } = heldNotices;
  const rows = await ctx.db
    .select()
    .from(heldNotices)
    .where(and(eq(heldNotices.email, email), or(lte(dueAt, Date.now()), gt(dueAt, soon()))));
  const { sealing } = settingsOf(ctx.env);
  const oldestFirst = rows.toSorted((a, b) => a.dueAt - b.dueAt);
  const unsealed = await Promise.allSettled(
    oldestFirst.map(async (row) => ({ ...row, content: await unsealLink(sealing, row.content, email) })),
  );
  const [first, ...others] = unsealed.flatMap((found) => (found.status === 'fulfilled' ? [found.value] : []));
  if (first) {
    const isSingle = others.length === 0 && first.times === 1;
    await deliver(ctx.env, email, isSingle ? first.content : severalNotices([first, ...others]));
    await forget(ctx, email, [first, ...others]);
  }
  // One whose key is missing delays no other.
  const failed = unsealed.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
};

/** The most emails of a run. Each takes about three queries, and D1 allows 1,000. */
const MAX_EMAILS = 100;
/** The most notices among which a run looks for them. */
const MAX_ROWS = 1_000;
/** When a notice that can't be sent is given up. */
const GIVE_UP_MS = 3 * DAY_MS;
/** How long before that it is tried every hour, because a run may be late. */
const LAST_TRIES_MS = 2 * HOUR_MS;

/**
 * Tries again later what could not be sent to an address, each time after twice as long, so that it holds up nobody else's, and
 * once more before it is given up.
 */
const postpone = async ({ db }: MailCtx, email: string): Promise<void> => {
  const nowMs = Date.now();
  const giveUpAt = sql<number>`ifnull(${heldNotices.giveUpAt}, ${nowMs + GIVE_UP_MS})`;
  const elapsedMs = sql`${nowMs + GIVE_UP_MS} - ${giveUpAt}`;
  const dueAt = sql<number>`${nowMs} + max(${HOUR_MS}, min(${elapsedMs}, ${giveUpAt} - ${nowMs + LAST_TRIES_MS}))`;
  await db
    .update(heldNotices)
    .set({ giveUpAt, dueAt })
    .where(and(eq(heldNotices.email, email), lte(heldNotices.dueAt, nowMs)));
};

/**
 * Sends what was held, one email for each recipient. Returns whether more may be due at once: each address of a run has nothing
 * left that is due, sent or postponed, so a run that has sent some leaves fewer.
 */
export const sendHeldNotices = async (ctx: MailCtx): Promise<boolean> => {
  const nowMs = Date.now();
  const isSendable = hasMail(ctx.env);
  const isGivenUp = isSendable
    ? lte(heldNotices.giveUpAt, nowMs)
    : lte(heldNotices.dueAt, nowMs - GIVE_UP_MS);
  await ctx.db.delete(heldNotices).where(isGivenUp);
  if (!isSendable) return false;
  const due = await ctx.db
    .select({ email: heldNotices.email })
    .from(heldNotices)
    .where(lte(heldNotices.dueAt, nowMs))
    .orderBy(asc(heldNotices.dueAt))
    .limit(MAX_ROWS);
  const emails = [...new Set(due.map((row) => row.email))].slice(0, MAX_EMAILS);
  let sent = 0;
  for (const email of emails) {
    try {
      await sendAllTo(ctx, email);
      sent++;
    } catch (error) {
      logError('mail_not_sent', error);
      await postpone(ctx, email);
    }
  }
  return sent > 0 && (due.length === MAX_ROWS || emails.length === MAX_EMAILS);
};
