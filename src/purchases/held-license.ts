import { and, eq, sql } from 'drizzle-orm';
import { auditAllAsRead } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { licenses, type LicenseRow, type PurchaseLicenseRow, purchaseLicenses } from '../db/schema.ts';
import { eventChange, type FeedChange, type Statement } from '../gate/feed/write.ts';
import { changeEvent, type ChangedColumns, recordChange } from '../licenses/history.ts';
import { ifNamesProduct } from '../products/named.ts';
import type { AuditAction } from '../shared/rules/audit.ts';
import { UNKNOWN_EMAIL } from '../shared/rules/licenses.ts';
import { changeLicense } from './rules/change-license.ts';
import { type PurchaseDecision, wantedOf } from './rules/decide.ts';

// Makes the licenses of a purchase what it wants. Most of them change alike, so there are as few statements for many as for one.

const REASONS: Partial<Record<PurchaseDecision['status'], string>> = {
  disputed: 'Payment disputed',
  refunded: 'Payment refunded',
};

const actionOf = ({ status, expiresAt }: ChangedColumns): AuditAction => {
  if (status === 'suspended') return 'license.suspend';
  if (status === 'revoked') return 'license.revoke';
  if (status === 'active') return 'license.reinstate';
  return expiresAt === undefined ? 'license.update' : 'license.renew';
};

/** Sets the address of a buyer that the store has told later. */
const addressOf = (license: LicenseRow, { email, name }: PurchaseDecision): ChangedColumns =>
  license.customerEmail === UNKNOWN_EMAIL && email !== null
    ? { customerEmail: email, ...(name !== null && { customerName: name }) }
    : {};

type Noted = Pick<PurchaseLicenseRow, 'wanted' | 'offer' | 'setStatus' | 'returnsTo'>;

interface Update {
  license: LicenseRow;
  fields: ChangedColumns;
  updatedAt: number;
  /** What the purchase has done to it then. Null if it is that already. */
  noted: Noted | null;
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const updateOf = (
  held: PurchaseLicenseRow,
  license: LicenseRow | undefined,
  decision: PurchaseDecision,
  nowMs: number,
): Update[] => {
  const slot = decision.slots.find((one) => one.slot === held.slot);
  if (!slot || !license) return [];
  const decided = wantedOf(slot, held);
  const isKept = decision.keepsProducts && decided.product !== held.wanted.product;
  const wanted = isKept ? { ...decided, product: held.wanted.product } : decided;
  const { offer } = isKept ? held : slot;
  const { fields: changed, setStatus, returnsTo } = changeLicense(held, license, wanted, offer.terms);
  const before: Noted = {
    wanted: held.wanted,
    offer: held.offer,
    setStatus: held.setStatus,
    returnsTo: held.returnsTo,
  };
  const noted: Noted = { wanted, offer, setStatus, returnsTo };
  return [
    {
      license,
      fields: { ...changed, ...addressOf(license, decision) },
      updatedAt: Math.max(nowMs, license.updatedAt + 1),
      noted: same(noted, before) ? null : noted,
    },
  ];
};

const idsOf = (updates: Update[]) => updates.map(({ license }) => license.id);

const groups = (updates: Update[], key: (update: Update) => unknown): [Update, ...Update[]][] => {
  const found = Map.groupBy(updates, (update) => JSON.stringify(key(update)));
  return [...found.values()] as [Update, ...Update[]][];
};

/** Sets the same fields of licenses. Fails if one is no longer as it was read, or would get a product that doesn't exist. */
const change = (
  ctx: Ctx,
  updates: [Update, ...Update[]],
  purchaseId: string,
  reason: string | undefined,
): Statement[] => {
  const [{ fields, updatedAt }] = updates;
  const areTheirs = and(eq(licenses.accountId, ctx.accountId), sql`${licenses.id} ${inJson(idsOf(updates))}`);
  const isAsRead = sql`EXISTS (SELECT 1 FROM licenses AS held WHERE held.account_id = ${ctx.accountId}
    AND held.id = value ->> 'target' AND held.updated_at = value ->> 'readAt')`;
  const targets = updates.map(({ license }) => ({ target: license.id, readAt: license.updatedAt }));
  return [
    auditAllAsRead(ctx, targets, isAsRead, actionOf(fields), { purchase: purchaseId }),
    recordChange(ctx, fields, updatedAt, areTheirs, fields.status === undefined ? undefined : reason),
    ctx.db
      .update(licenses)
      .set({
        ...fields,
        updatedAt: fields.product ? ifNamesProduct(ctx, fields.product, updatedAt) : updatedAt,
      })
      .where(areTheirs),
  ];
};

/** Statements that make the licenses of a purchase what it wants. They fail if one can't be changed. See `change`. */
export const updateHeld = (
  ctx: Ctx,
  purchaseId: string,
  held: PurchaseLicenseRow[],
  known: ReadonlyMap<string, LicenseRow>,
  decision: PurchaseDecision,
  nowMs: number,
): { statements: Statement[]; changes: FeedChange[] } => {
  const reason = REASONS[decision.status];
  const updates = held.flatMap((one) => updateOf(one, known.get(one.licenseId), decision, nowMs));
  const changed = updates.filter(({ fields }) => Object.keys(fields).length > 0);
  const noted = updates.filter((update) => update.noted !== null);
  return {
    statements: [
      ...groups(changed, ({ fields, updatedAt }) => [fields, updatedAt]).flatMap((group) =>
        change(ctx, group, purchaseId, reason),
      ),
      ...groups(noted, (update) => update.noted).map((group) =>
        ctx.db
          .update(purchaseLicenses)
          .set({ ...group[0].noted })
          .where(
            and(
              eq(purchaseLicenses.accountId, ctx.accountId),
              sql`${purchaseLicenses.licenseId} ${inJson(idsOf(group))}`,
            ),
          ),
      ),
    ],
    changes: changed.flatMap(({ license, fields, updatedAt }) => {
      const event = changeEvent(license, fields, updatedAt, fields.status === undefined ? undefined : reason);
      const isLifted = license.status === 'revoked' && fields.status !== undefined;
      return [
        { kind: isLifted ? ('lifted' as const) : ('license' as const), ref: license.id },
        ...(event ? [eventChange(event)] : []),
      ];
    }),
  };
};
