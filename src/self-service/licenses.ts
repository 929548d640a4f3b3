import { and, desc, eq, inArray, lt } from 'drizzle-orm';
import { issueOfflineToken, releaseActivation } from '../activations/seller.ts';
import { audit } from '../audit/audit.ts';
import { auditCustomersRead } from '../audit/reads.ts';
import { firstDatabase } from '../db/client.ts';
import { type LicenseRow, licenses, products } from '../db/schema.ts';
import { rotateKey } from '../licenses/change.ts';
import { beforeCursor, seqCursor } from '../licenses/seq-cursor.ts';
import { assertMails, keysMail, type MailedKey, mailCustomer, nameOf } from '../portal/mails.ts';
import { portalUrl } from '../portal/schemas.ts';
import { type CustomerCtx, isCustomersLicense, portalDisabled } from '../portal/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';
import { isNobodys } from '../shared/rules/licenses.ts';
import { permissionsFor, type ProductPermission } from '../shared/rules/portal.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { portalChangeLimits, portalKeysLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { type KnownProduct, toCustomersLicense, toMachine } from './schemas.ts';
import { findWithStorePage } from './store-link.ts';

// What a customer sees and does of their licenses. Another customer's license is as unknown as one that doesn't exist.

const findProducts = async (
  { db, accountId }: CustomerCtx,
  rows: LicenseRow[],
): Promise<Map<string, KnownProduct>> => {
  const codes = [...new Set(rows.flatMap(({ product }) => product ?? []))];
  if (codes.length === 0) return new Map();
  const found = await db
    .select({ code: products.code, name: products.name, terms: products.terms })
    .from(products)
    .where(and(eq(products.accountId, accountId), inArray(products.code, codes.slice(0, 90))));
  return new Map(found.map(({ code, ...product }) => [code, product]));
};

const findLicense = async (ctx: CustomerCtx, id: string): Promise<LicenseRow> => {
  const isTheirs = and(isCustomersLicense(ctx, ctx.customer), eq(licenses.id, id));
  const [row] = await ctx.db.select().from(licenses).where(isTheirs).limit(1);
  if (!row) throw new AppError('license_not_found');
  return row;
};

const toBodies = async (ctx: CustomerCtx, rows: LicenseRow[]) => {
  const ids = rows.map(({ id }) => id);
  const [known, withPage] = await Promise.all([findProducts(ctx, rows), findWithStorePage(ctx, ids)]);
  return (row: LicenseRow) =>
    toCustomersLicense(row, known.get(row.product ?? ''), ctx.portal, withPage.has(row.id));
};

const toBody = async (ctx: CustomerCtx, row: LicenseRow) => (await toBodies(ctx, [row]))(row);

export const listLicenses = async (ctx: CustomerCtx, { limit, cursor }: PageInput) => {
  const before = beforeCursor(cursor);
  const rows = await ctx.db
    .select()
    .from(licenses)
    .where(and(isCustomersLicense(ctx, ctx.customer), before ? lt(licenses.seq, before) : undefined))
    .orderBy(desc(licenses.seq))
    .limit(limit + 1);
  const toItem = await toBodies(ctx, rows);
  return toPage(rows, limit, toItem, seqCursor);
};

export const getLicense = async (ctx: CustomerCtx, id: string, { limit, cursor }: PageInput) => {
  const license = await findLicense(ctx, id);
  const gate = gateOf(ctx.env, ctx.accountId);
  const page = await gate.listActivations(license.licenseKey, limit + 1, cursor ?? null);
  if (!page) throw new AppError('unavailable');
  const { data, next_cursor } = toPage(page.machines, limit, toMachine);
  const body = await toBody(ctx, license);
  return {
    ...body,
    seats: page.seats,
    activations: data,
    next_cursor: next_cursor ?? page.continuesAfter ?? null,
  };
};

export const revealKey = async (ctx: CustomerCtx, id: string): Promise<string> => {
  const { licenseKey } = await findLicense(ctx, id);
  await auditCustomersRead(ctx, 'license.reveal_key', id);
  return licenseKey;
};

/** Returns the license, if the seller lets the customer do this with it. */
const findPermitted = async (ctx: CustomerCtx, id: string, permission: ProductPermission) => {
  const license = await findLicense(ctx, id);
  if (!permissionsFor(ctx.portal, license.product)[permission])
    throw portalDisabled('The Seller Doesn’t Allow This in the Portal');
  return license;
};

const throttle = (ctx: CustomerCtx, change: Parameters<typeof portalChangeLimits>[0], id: string) =>
  consumeAttempts({ firstDb: firstDatabase(ctx.env) }, portalChangeLimits(change, id));

export const releaseSeat = async (ctx: CustomerCtx, id: string, activationId: string): Promise<void> => {
  await findPermitted(ctx, id, 'release_seat');
  await throttle(ctx, 'release', id);
  await releaseActivation(ctx, id, activationId, false);
};

export const issueFile = async (ctx: CustomerCtx, id: string, fingerprint: string, origin: string) => {
  const license = await findPermitted(ctx, id, 'offline_file');
  const { can } = await toBody(ctx, license);
  if (!can.offline_file) throw portalDisabled('This License Allows No Offline Files');
  await throttle(ctx, 'file', id);
  return issueOfflineToken(ctx, id, { fingerprint }, origin);
};

export const changeKey = async (ctx: CustomerCtx, id: string) => {
  await findPermitted(ctx, id, 'rotate_key');
  await throttle(ctx, 'rotate', id);
  const changed = await rotateKey(ctx, id, {});
  return { ...(await toBody(ctx, changed)), license_key: changed.licenseKey };
};

/** What an email still shows well. */
const MAX_MAILED_KEYS = 50;

/** Sends the customer's keys to their address. Returns what is left to do after the response. */
export const resendKeys = async (ctx: CustomerCtx, origin: string) => {
  await assertMails(ctx);
  const rows = await ctx.db
    .select()
    .from(licenses)
    .where(isCustomersLicense(ctx, ctx.customer))
    .orderBy(desc(licenses.seq))
    .limit(MAX_MAILED_KEYS + 1);
  const known = await findProducts(ctx, rows);
  const keys = rows.slice(0, MAX_MAILED_KEYS).map(({ product, licenseKey }): MailedKey => ({
    product: known.get(product ?? '')?.name ?? product ?? 'License',
    licenseKey,
  }));
  if (keys.length === 0 || isNobodys(ctx.customer.email)) throw new AppError('license_not_found');
  await consumeAttempts(
    { firstDb: firstDatabase(ctx.env) },
    portalKeysLimits(ctx.accountId, ctx.customer.email),
  );
  await audit(ctx, 'customer.send_keys', ctx.customer.licenseId);
  const content = keysMail(
    nameOf(ctx),
    keys,
    rows.length - keys.length,
    portalUrl(origin, ctx.portal.slug ?? ''),
  );
  return () => mailCustomer(ctx, ctx.customer.email, content);
};
