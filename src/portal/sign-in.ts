import { and, desc, eq, notInArray, type SQL, sql } from 'drizzle-orm';
import { auditIf } from '../audit/audit.ts';
import { firstDatabase } from '../db/client.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import {
  type LicenseRow,
  licenses,
  portalEmailChanges,
  portalSessions,
  portalTokens,
  type PortalTokenRow,
} from '../db/schema.ts';
import { selectRow } from '../db/select-row.ts';
import { hasMail } from '../mail/deliver.ts';
import { AppError } from '../shared/app-error.ts';
import { equalInConstantTime } from '../shared/crypto/hash.ts';
import { candidateKeys, normalizeTypedKey } from '../shared/rules/license-key.ts';
import { NOBODYS_EMAILS } from '../shared/rules/licenses.ts';
import { lowerAscii } from '../shared/rules/portal.ts';
import { logError } from '../shared/text/log.ts';
import { type AttemptOutcome, portalCodeLimits, portalSignInLimits } from '../users/limits.ts';
import { consumeAttempts, settleAttempt } from '../users/throttle.ts';
import { codeMail, mailWayIn, nameOf, signInMail } from './mails.ts';
import { portalLink } from './schemas.ts';
import { deleteExpiredSessions, endOldestSessions, newSession, type PortalCtx } from './sessions.ts';
import {
  deleteExpiredTokens,
  hashCode,
  hashLink,
  insertToken,
  isTokenOf,
  isUsable,
  newCode,
  newLink,
  renewTokens,
} from './tokens.ts';

export type SignInInput = { email: string } | { license_key: string };
export type SessionInput = { token: string } | { license_key: string; code: string };

export interface Visitor {
  ip: string;
  origin: string;
  userAgent: string | null;
}

const findByEmail = ({ db, accountId }: PortalCtx, email: string) =>
  db
    .select()
    .from(licenses)
    .where(
      and(
        eq(licenses.accountId, accountId),
        eq(sql`lower(${licenses.customerEmail})`, email),
        notInArray(licenses.customerEmail, NOBODYS_EMAILS),
      ),
    )
    .orderBy(desc(licenses.seq))
    .limit(1)
    .get();

/** Looks up a key, also as a person may have typed it. */
const findByKey = async ({ db, accountId }: PortalCtx, typed: string): Promise<LicenseRow | undefined> => {
  const candidates = candidateKeys(typed.trim());
  const found = await db
    .select()
    .from(licenses)
    .where(
      and(
        eq(licenses.accountId, accountId),
        sql`${licenses.licenseKey} ${inJson(candidates)}`,
        notInArray(licenses.customerEmail, NOBODYS_EMAILS),
      ),
    )
    .limit(1);
  return found[0];
};

const sendLink = async (ctx: PortalCtx, email: string, origin: string) => {
  const { db, portal } = ctx;
  const { token, row } = newLink(ctx, 'sign_in', { email });
  const url = portalLink(origin, portal.slug ?? '', token);
  await mailWayIn(
    ctx,
    email,
    signInMail(nameOf(ctx), url),
    () => db.batch([insertToken(db, row), deleteExpiredTokens(db)]),
    (untilMs) => renewTokens(db, isTokenOf(ctx, email, 'sign_in'), untilMs),
  );
};

/** A license has one code, so that asking often doesn't make guessing easier. */
const sendCode = async (ctx: PortalCtx, { id, customerEmail }: LicenseRow) => {
  const { db } = ctx;
  const email = lowerAscii(customerEmail);
  const { code, row } = newCode(ctx, id, email);
  const isEarlier = and(isTokenOf(ctx, email, 'code'), eq(portalTokens.licenseId, id));
  await mailWayIn(
    ctx,
    customerEmail,
    codeMail(nameOf(ctx), code),
    () => db.batch([db.delete(portalTokens).where(isEarlier), insertToken(db, row), deleteExpiredTokens(db)]),
    (untilMs) => renewTokens(db, isEarlier, untilMs),
  );
};

/**
 * Sends the email with which a customer signs in, if the seller has a license of the address or with the key. It runs after the
 * response, which therefore is the same, and takes as long, whatever is known.
 */
export const sendSignIn = async (
  ctx: PortalCtx,
  input: SignInInput,
  { ip, origin }: Visitor,
): Promise<void> => {
  if (!hasMail(ctx.env)) return;
  try {
    await consumeAttempts({ firstDb: firstDatabase(ctx.env) }, portalSignInLimits(ip));
    if ('email' in input) {
      const email = lowerAscii(input.email);
      if (await findByEmail(ctx, email)) await sendLink(ctx, email, origin);
      return;
    }
    const license = await findByKey(ctx, input.license_key);
    if (license) await sendCode(ctx, license);
  } catch (error) {
    if (!(error instanceof AppError)) logError('portal_sign_in_not_sent', error);
  }
};

/** Uses a token up and begins its session, both or neither: of parallel calls, one does. Returns null if it doesn't work. */
const begin = async (ctx: PortalCtx, isToken: ReturnType<typeof isUsable>, userAgent: string | null) => {
  const { db, accountId } = ctx;
  const { token, row } = newSession(ctx, userAgent);
  // A change of address, and a code, concern all that the customer has.
  const shown = { email: sql`email`, licenseId: sql`iif(purpose = 'open', license_id, NULL)` };
  const session = selectRow(portalSessions, { ...row, ...shown });
  const ofToken = (value: SQL) => sql`(SELECT ${value} FROM ${portalTokens} WHERE ${isToken})`;
  const asCustomer = { ...ctx, actor: { kind: 'customer', id: row.id } } as const;
  const confirm = (purpose: 'change_from' | 'change_to') =>
    db
      .update(portalEmailChanges)
      .set(purpose === 'change_from' ? { fromConfirmedAt: Date.now() } : { toConfirmedAt: Date.now() })
      .where(
        and(
          eq(portalEmailChanges.accountId, accountId),
          sql`${portalEmailChanges.id} = (
            SELECT change_id FROM ${portalTokens} WHERE ${isToken} AND purpose = ${purpose}
          )`,
        ),
      );
  const results = await db.batch([
    endOldestSessions(db, accountId, { email: ofToken(shown.email), licenseId: ofToken(shown.licenseId) }),
    db.insert(portalSessions).select(sql`${session} FROM ${portalTokens} WHERE ${isToken}`),
    confirm('change_from'),
    confirm('change_to'),
    auditIf(
      asCustomer,
      sql`EXISTS (SELECT 1 FROM ${portalTokens} WHERE ${isToken})`,
      'customer.sign_in',
      null,
    ),
    db.delete(portalTokens).where(isToken).returning(),
    deleteExpiredSessions(db),
  ]);
  const used: PortalTokenRow | undefined = results[5][0];
  if (!used) return null;
  return { token, expiresAt: row.expiresAt, used, ctx: asCustomer };
};

export type Begun = NonNullable<Awaited<ReturnType<typeof begin>>>;

/** Signs in with the link of an email, or of the seller's application. */
const withLink = async (ctx: PortalCtx, token: string, userAgent: string | null): Promise<Begun> => {
  const hash = hashLink(ctx, token.trim());
  const isToken = isUsable(ctx, hash ?? '', ['sign_in', 'open', 'change_from', 'change_to']);
  const begun = hash === null ? null : await begin(ctx, isToken, userAgent);
  if (!begun) throw new AppError('invalid_token');
  return begun;
};

const MAX_TRIES = 5;

/** Spends a try of the license's code, and returns its hash. Parallel guesses each spend one. */
const spendTry = async ({ db, accountId }: PortalCtx, license: LicenseRow | undefined) => {
  const [row] = await db
    .update(portalTokens)
    .set({ tries: sql`${portalTokens.tries} + 1` })
    .where(
      and(
        eq(portalTokens.accountId, accountId),
        eq(portalTokens.email, lowerAscii(license?.customerEmail ?? '')),
        eq(portalTokens.purpose, 'code'),
        eq(portalTokens.licenseId, license?.id ?? ''),
        sql`${portalTokens.expiresAt} > ${Date.now()} AND ${portalTokens.tries} < ${MAX_TRIES}`,
      ),
    )
    .returning({ tokenHash: portalTokens.tokenHash });
  return row?.tokenHash ?? null;
};

/** Signs in with a license key and the code that its address has got. An unknown key and a wrong code get the same answer. */
const withCode = async (
  ctx: PortalCtx,
  publicCtx: PublicCtx,
  { license_key, code }: { license_key: string; code: string },
  { ip, userAgent }: Visitor,
): Promise<Begun> => {
  // All spellings of a key count together.
  const key = normalizeTypedKey(license_key) ?? license_key.trim();
  const limits = portalCodeLimits(ip, `${ctx.accountId} ${key}`);
  const reservations = await consumeAttempts(publicCtx, limits);
  let outcome: AttemptOutcome = 'error';
  let begun: Begun | null = null;
  try {
    const license = await findByKey(ctx, license_key);
    const sent = await spendTry(ctx, license);
    const given = hashCode(ctx, license?.id ?? '', code.replaceAll(/\D/g, ''));
    const isRight = sent !== null && equalInConstantTime(sent, given);
    begun = isRight ? await begin(ctx, isUsable(ctx, given, ['code']), userAgent) : null;
    outcome = begun ? 'success' : 'failure';
  } finally {
    await settleAttempt(publicCtx, reservations, outcome);
  }
  if (!begun) throw new AppError('invalid_token');
  return begun;
};

export const startSession = (
  ctx: PortalCtx,
  publicCtx: PublicCtx,
  input: SessionInput,
  visitor: Visitor,
): Promise<Begun> =>
  'token' in input ? withLink(ctx, input.token, visitor.userAgent) : withCode(ctx, publicCtx, input, visitor);
