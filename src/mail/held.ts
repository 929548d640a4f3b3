import { and, asc, eq, lte, sql } from 'drizzle-orm';
import { firstDatabase } from '../db/client.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { type HeldNoticeRow, heldNotices } from '../db/schema.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { seal, unseal } from '../shared/crypto/sealing.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import { deliver, hasMail } from './deliver.ts';
import { severalNotices } from './templates.ts';

// Notices beyond their recipient's limit, and those that could not be sent. What happens within an hour becomes one email, so
// that neither a flood hides what has happened nor the emails about it are one.

interface Notice {
  to: string;
  content: MailContent;
  accountId: string;
  isUnverified: boolean;
}

/** Does something to the token of the email's link. A held token is sealed: it would let any reader of D1 in. */
const withToken = async (
  content: MailContent,
  work: (token: string) => Promise<string>,
): Promise<MailContent> => {
  const [, page, token] = /^(.*#token=)(.+)$/.exec(content.link?.url ?? '') ?? [];
  if (!content.link || !page || !token) return content;
  return { ...content, link: { ...content.link, url: page + (await work(token)) } };
};

/** An address that was never proven may be a stranger's, so it gets such an email once a day. */
export const holdNotice = async (
  env: Env,
  { to, content: sent, accountId, isUnverified }: Notice,
): Promise<void> => {
  const content = await withToken(sent, (token) => seal(settingsOf(env).sealing, token, [to]));
  const dueAt = Date.now() + (isUnverified ? DAY_MS : HOUR_MS);
  await firstDatabase(env)
    .insert(heldNotices)
    .values({ email: to, subject: content.subject, accountId, content, dueAt })
    .onConflictDoUpdate({
      target: [heldNotices.email, heldNotices.subject],
      set: { accountId, content, times: sql`${heldNotices.times} + 1` },
    });
};

/** Notices that happen while the email is sent stay for the next one. */
const forget = ({ db }: DatabaseCtx, { email, subject, times }: HeldNoticeRow) =>
  db
    .delete(heldNotices)
    .where(and(eq(heldNotices.email, email), eq(heldNotices.subject, subject), eq(heldNotices.times, times)));

const sendHeldTo = async (ctx: DatabaseCtx, email: string): Promise<void> => {
  const rows = await ctx.db.select().from(heldNotices).where(eq(heldNotices.email, email));
  const { sealing } = settingsOf(ctx.env);
  const unsealed = rows.map(async (row) => {
    const content = await withToken(row.content, (token) => unseal(sealing, token, [email]));
    return { ...row, content };
  });
  const [first, ...others] = await Promise.all(unsealed);
  if (!first) return;
  const isSingle = others.length === 0 && first.times === 1;
  await deliver(ctx.env, email, isSingle ? first.content : severalNotices([first, ...others]));
  await ctx.db.batch([forget(ctx, first), ...others.map((row) => forget(ctx, row))]);
};

/** The most emails of a run. The next run continues. */
const MAX_EMAILS = 100;
/** When a notice that can't be sent is given up. */
const GIVE_UP_MS = 3 * DAY_MS;

/** Sends what was held, one email for each recipient. */
export const sendHeldNotices = async (ctx: DatabaseCtx): Promise<void> => {
  const nowMs = Date.now();
  await ctx.db.delete(heldNotices).where(lte(heldNotices.dueAt, nowMs - GIVE_UP_MS));
  if (!hasMail(ctx.env)) return;
  const due = await ctx.db
    .select({ email: heldNotices.email })
    .from(heldNotices)
    .where(lte(heldNotices.dueAt, nowMs))
    .orderBy(asc(heldNotices.dueAt))
    .limit(MAX_EMAILS);
  for (const email of new Set(due.map((row) => row.email))) {
    try {
      await sendHeldTo(ctx, email);
    } catch (error) {
      logError('mail_not_sent', error);
    }
  }
};
