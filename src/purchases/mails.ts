import { and, asc, eq, isNotNull, lte, or, type SQL, sql } from 'drizzle-orm';
import { getAccount, isServing, type LimitedAccount } from '../db/account.ts';
import { databaseOf, firstDatabase } from '../db/client.ts';
import {
  type LicenseRow,
  licenses,
  purchaseLicenses,
  type PurchaseMailRow,
  purchaseMails,
  type PurchaseRow,
  purchases,
} from '../db/schema.ts';
import { deliver, hasMail } from '../mail/deliver.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { ERASED_EMAIL, UNKNOWN_EMAIL } from '../shared/rules/licenses.ts';
import { effectivePlan } from '../shared/rules/plans.ts';
import { lowerAscii } from '../shared/rules/portal.ts';
import { logError } from '../shared/text/log.ts';
import { buyerMailLimits } from '../users/limits.ts';
import { consumeAttempts, retryTimeOf } from '../users/throttle.ts';
import { getUser } from '../users/user.ts';
import { buyerMail, readSeller } from './buyer-mail.ts';

// Sends the emails with bought keys, each once. A row is claimed before it is sent, so that two workers don't send it both.

/** The most emails of a step. */
const MAX_MAILS = 10;
/** For how long nobody else sends a claimed email. */
const CLAIM_MS = 10 * 60_000;
const MAX_TRIES = 8;
const MAX_KEYS = 200;
/** The longest that an email waits for what may make more keys. */
const MAX_WAIT_MS = 10 * 60_000;

type Fields = Partial<typeof purchaseMails.$inferInsert>;

const isRow = ({ purchaseId, number }: PurchaseMailRow) =>
  and(eq(purchaseMails.purchaseId, purchaseId), eq(purchaseMails.number, number));

const set = async (env: Env, row: PurchaseMailRow, fields: Fields, condition?: SQL): Promise<void> => {
  await databaseOf(env, row.accountId)
    .update(purchaseMails)
    .set(fields)
    .where(and(isRow(row), condition));
};

/** Notes why an email wasn't sent, and when it is due. One that was dropped for a later one meanwhile stays so. */
const save = (env: Env, row: PurchaseMailRow, fields: Fields): Promise<void> =>
  set(env, row, fields, isNotNull(purchaseMails.dueAt));

/** Notes that an email was sent. Tries twice, because the email would be sent again if D1 failed to note it. */
const saveSent = async (env: Env, row: PurchaseMailRow): Promise<void> => {
  const sent: Fields = { dueAt: null, sentAt: Date.now(), problem: null };
  await set(env, row, sent).catch(() => set(env, row, sent));
};

/** Lets everything of the account that is due wait: what keeps one email back keeps back the others. One on its way is due later. */
const postponeAll = async (env: Env, accountId: string, dueAt: number, problem: string): Promise<void> => {
  await databaseOf(env, accountId)
    .update(purchaseMails)
    .set({ dueAt, problem })
    .where(and(eq(purchaseMails.accountId, accountId), lte(purchaseMails.dueAt, Date.now())));
};

/** Returns false if somebody else sends it. What it has waited for is over, so nothing lets it be sent once more. */
const claim = async (env: Env, row: PurchaseMailRow): Promise<boolean> => {
  const claimed = await databaseOf(env, row.accountId)
    .update(purchaseMails)
    .set({ dueAt: Date.now() + CLAIM_MS, problem: null })
    .where(and(isRow(row), sql`due_at IS ${row.dueAt}`))
    .returning({ number: purchaseMails.number });
  return claimed.length > 0;
};

/**
 * Who gets which keys: the buyer, while a license has their address, and otherwise whoever has the first license by now. A
 * seller has corrected the address then, or the customer has changed it.
 */
const addressed = (purchase: PurchaseRow, active: LicenseRow[]) => {
  if (purchase.isTest) return { purchase, active };
  const bought = purchase.customerEmail ?? UNKNOWN_EMAIL;
  const owners = active.map(({ customerEmail }) => lowerAscii(customerEmail));
  const to = owners.includes(lowerAscii(bought))
    ? bought
    : (active.find(({ customerEmail }) => customerEmail !== UNKNOWN_EMAIL)?.customerEmail ?? bought);
  return {
    purchase: { ...purchase, customerEmail: to === UNKNOWN_EMAIL ? null : to },
    active: active.filter((_, i) => owners[i] === lowerAscii(to)),
  };
};

const readSold = async (env: Env, { accountId, purchaseId }: PurchaseMailRow) => {
  const db = databaseOf(env, accountId);
  const [[purchase], sold] = await Promise.all([
    db.select().from(purchases).where(eq(purchases.id, purchaseId)),
    db
      .select({ license: licenses })
      .from(purchaseLicenses)
      .innerJoin(
        licenses,
        and(eq(licenses.accountId, purchaseLicenses.accountId), eq(licenses.id, purchaseLicenses.licenseId)),
      )
      .where(eq(purchaseLicenses.purchaseId, purchaseId))
      .orderBy(asc(purchaseLicenses.slot), asc(purchaseLicenses.number))
      .limit(MAX_KEYS),
  ]);
  const active = sold
    .map(({ license }) => license)
    .filter(({ status, customerEmail }) => status === 'active' && customerEmail !== ERASED_EMAIL);
  return purchase ? addressed(purchase, active) : { purchase, active };
};

/** Sends one email. Returns false if the account can't send more today. */
const sendOne = async (env: Env, account: LimitedAccount, row: PurchaseMailRow): Promise<boolean> => {
  const { purchase, active } = await readSold(env, row);
  if (!purchase || purchase.isErased || active.length === 0) {
    await save(env, row, { dueAt: null, problem: 'nothing_to_send' });
    return true;
  }
  const seller = await readSeller(env, row.accountId, active[0]?.product ?? '');
  const to = purchase.isTest ? seller.email : purchase.customerEmail;
  if (to === null || to === '') {
    await save(env, row, { dueAt: null, problem: 'no_address' });
    return true;
  }
  const plan = effectivePlan(account, Date.now());
  try {
    await consumeAttempts({ firstDb: firstDatabase(env) }, [buyerMailLimits(row.accountId, plan)]);
  } catch (error) {
    const dueAt = retryTimeOf(error);
    if (dueAt === null) throw error;
    await postponeAll(env, row.accountId, dueAt, 'limit_of_the_day');
    await save(env, row, { dueAt, problem: 'limit_of_the_day' });
    return false;
  }
  const keys = active.map(({ product, licenseKey }) => ({ product: product ?? '', licenseKey }));
  const { content, sender } = buyerMail(seller, keys, purchase.isTest);
  await deliver(env, to, content, sender);
  await saveSent(env, row);
  return true;
};

/** Sends an email that is claimed. One that fails is tried again later, and keeps no other waiting. */
const sendClaimed = (env: Env, account: LimitedAccount, row: PurchaseMailRow): Promise<boolean> =>
  sendOne(env, account, row).catch(async (error: unknown) => {
    logError('purchase_mail_not_sent', error, { account_id: row.accountId, purchase_id: row.purchaseId });
    const tries = row.tries + 1;
    const dueAt = tries >= MAX_TRIES ? null : Date.now() + Math.min(5 * 60_000 * 4 ** row.tries, DAY_MS / 4);
    await save(env, row, { tries, dueAt, problem: 'not_delivered' });
    return true;
  });

/** Whether a notification of the purchase is unread, or what it doesn't say, such as how many were sold, was not once asked for. */
const isBeingRead = sql`EXISTS (SELECT 1 FROM purchase_messages AS told
  CROSS JOIN store_messages AS message ON message.id = told.message_id
  WHERE told.purchase_id = ${purchaseMails.purchaseId} AND message.read_at IS NOT NULL AND message.tries = 0)`;

/** Sends what is due. Returns whether more may be. */
export const sendDueMails = async (env: Env, accountId: string): Promise<boolean> => {
  const nowMs = Date.now();
  const rows = await databaseOf(env, accountId)
    .select()
    .from(purchaseMails)
    .where(
      and(
        eq(purchaseMails.accountId, accountId),
        lte(purchaseMails.dueAt, nowMs),
        or(lte(purchaseMails.createdAt, nowMs - MAX_WAIT_MS), sql`NOT ${isBeingRead}`),
      ),
    )
    // Those that wait for the same time go in the order in which they came.
    .orderBy(asc(purchaseMails.dueAt), sql`rowid`)
    .limit(MAX_MAILS);
  if (rows.length === 0) return false;
  if (!hasMail(env)) {
    await postponeAll(env, accountId, nowMs + DAY_MS, 'service_sends_no_mail');
    return false;
  }
  const account = await getAccount({ env, db: databaseOf(env, accountId), accountId });
  if (!isServing(account)) {
    await postponeAll(env, accountId, nowMs + HOUR_MS, 'account_suspended');
    return false;
  }
  const user = await getUser({ firstDb: firstDatabase(env) }, accountId);
  if (user.emailVerifiedAt === null) {
    await postponeAll(env, accountId, nowMs + HOUR_MS, 'account_not_verified');
    return false;
  }
  for (const row of rows)
    if ((await claim(env, row)) && !(await sendClaimed(env, account, row))) return false;
  return true;
};
