import { and, desc, eq, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import type { AccountDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { deleteOldest } from '../db/prune.ts';
import { accounts, licenses, type PortalRow, portalSessions, type PortalSessionRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { newId } from '../shared/text/ids.ts';
import { isMinted, mintToken } from '../users/tagged-tokens.ts';
import { toCustomerSession } from './schemas.ts';

const SESSION_MS = 30 * DAY_MS;
const MAX_SESSIONS = 20;
const MAX_USER_AGENT_LENGTH = 512;
const PREFIX = 'lkp_';

/** A customer who is signed in: whose licenses the session shows, or its only one. */
export type Customer = Pick<PortalSessionRow, 'id' | 'email' | 'licenseId' | 'tokenHash'>;

/** An operation of a customer, or of whoever becomes one. */
export interface PortalCtx extends Ctx {
  portal: PortalRow;
}
export interface CustomerCtx extends PortalCtx {
  customer: Customer;
}

export const newSession = (ctx: Ctx, userAgent: string | null) => {
  const token = mintToken(ctx, PREFIX);
  const nowMs = Date.now();
  const row = {
    tokenHash: sha256(token),
    accountId: ctx.accountId,
    id: newId('pse'),
    createdAt: nowMs,
    expiresAt: nowMs + SESSION_MS,
    lastSeenAt: nowMs,
    ip: ctx.ip,
    userAgent: userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  };
  return { token, row };
};

export const hashSession = (ctx: Pick<Ctx, 'env'>, token: string): string | null =>
  isMinted(ctx, PREFIX, token) ? sha256(token) : null;

/** Whether the account serves its customers, as of a query of its row. */
const servesCustomers = (accountId: string): SQL | undefined =>
  and(eq(accounts.id, accountId), isNull(accounts.suspendedAt), isNull(accounts.eraseAt));

/** Returns the session, if it hasn't ended, and whether its account is neither suspended nor about to be erased. */
export const findSession = async ({ db, accountId }: Ctx, tokenHash: string | null) => {
  const isSession = and(
    eq(portalSessions.tokenHash, tokenHash ?? ''),
    eq(portalSessions.accountId, accountId),
    gt(portalSessions.expiresAt, Date.now()),
  );
  const [[session], [account]] = await db.batch([
    db.select().from(portalSessions).where(isSession),
    db.select({ id: accounts.id }).from(accounts).where(servesCustomers(accountId)),
  ]);
  return { session: session ?? null, isServing: account !== undefined };
};

export const isSeenDue = ({ lastSeenAt }: PortalSessionRow): boolean => Date.now() - lastSeenAt >= HOUR_MS;

export const noteSeen = async ({ db, ip }: Ctx, tokenHash: string): Promise<void> => {
  await db
    .update(portalSessions)
    .set({ lastSeenAt: Date.now(), ip })
    .where(eq(portalSessions.tokenHash, tokenHash));
};

/** The licenses that a session shows. One for a single license ends if that gets another address. */
export const isCustomersLicense = (
  { accountId }: Pick<Ctx, 'accountId'>,
  { email, licenseId }: Pick<Customer, 'email' | 'licenseId'>,
) =>
  and(
    eq(licenses.accountId, accountId),
    eq(sql`lower(${licenses.customerEmail})`, email),
    licenseId === null ? undefined : eq(licenses.id, licenseId),
  );

/** Sessions that show the same, or a part of it: one for a single license neither sees nor ends the others. */
const isSameCustomer = ({ accountId, customer: { email, licenseId } }: CustomerCtx) =>
  and(
    eq(portalSessions.accountId, accountId),
    eq(portalSessions.email, email),
    licenseId === null ? undefined : eq(portalSessions.licenseId, licenseId),
  );

/** The cursor has the time and the id of a session, which may have ended by the next page. */
export const listSessions = async (ctx: CustomerCtx, { limit, cursor }: PageInput) => {
  const [, createdAt, id] = /^(\d+)_(.+)$/.exec(cursor ?? '') ?? [];
  const before =
    cursor === undefined
      ? undefined
      : sql`(${portalSessions.createdAt}, ${portalSessions.id}) < (${Number(createdAt)}, ${id})`;
  const rows = await ctx.db
    .select()
    .from(portalSessions)
    .where(and(isSameCustomer(ctx), gt(portalSessions.expiresAt, Date.now()), before))
    .orderBy(desc(portalSessions.createdAt), desc(portalSessions.id))
    .limit(limit + 1);
  return toPage(
    rows,
    limit,
    (row) => toCustomerSession(row, ctx.customer.id),
    (row) => `${row.createdAt}_${row.id}`,
  );
};

/** Statement that ends sessions of the customer: the present one, or all. */
export const endSessions = (ctx: CustomerCtx, which: 'present' | 'all') =>
  ctx.db
    .delete(portalSessions)
    .where(
      and(
        isSameCustomer(ctx),
        which === 'present' ? eq(portalSessions.tokenHash, ctx.customer.tokenHash) : undefined,
      ),
    )
    .returning({ id: portalSessions.id });

/** Statement that ends the oldest sessions that show the same, to make room for a new one. */
export const endOldestSessions = (
  db: AccountDatabase,
  accountId: string,
  { email, licenseId }: Record<'email' | 'licenseId', SQL>,
) => {
  const oldest = db
    .select({ tokenHash: portalSessions.tokenHash })
    .from(portalSessions)
    .where(
      and(
        eq(portalSessions.accountId, accountId),
        sql`${portalSessions.email} = ${email}`,
        // Customers of different licenses may have one address: the seller's.
        sql`${portalSessions.licenseId} IS ${licenseId}`,
      ),
    )
    .orderBy(desc(portalSessions.createdAt))
    .limit(MAX_SESSIONS)
    .offset(MAX_SESSIONS - 1);
  return db.delete(portalSessions).where(inArray(portalSessions.tokenHash, oldest));
};

export const deleteExpiredSessions = (db: AccountDatabase) =>
  deleteOldest(db, portalSessions, { time: portalSessions.expiresAt, throughMs: Date.now(), limit: 100 });

export const portalDisabled = (message?: string) =>
  new AppError('portal_disabled', message === undefined ? {} : { message });

/** Statement that ends every session that shows licenses of an address. */
export const endSessionsOf = ({ db, accountId }: Ctx, email: string) =>
  db
    .delete(portalSessions)
    .where(and(eq(portalSessions.accountId, accountId), eq(portalSessions.email, email)));
