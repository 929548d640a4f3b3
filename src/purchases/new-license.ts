import { auditCreate } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { licenses, type LicenseValues } from '../db/schema.ts';
import { eventChange, type FeedChange, type Statement } from '../gate/feed/write.ts';
import { accountWithRoom } from '../licenses/limit.ts';
import { EMPTY_COLUMNS } from '../licenses/schemas.ts';
import { ifNamesProduct } from '../products/named.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { generateLicenseKey } from '../shared/rules/license-key.ts';
import { UNKNOWN_EMAIL } from '../shared/rules/licenses.ts';
import type { ProductTerms } from '../shared/rules/terms.ts';
import { licenseEvent } from '../shared/text/events.ts';
import { newId } from '../shared/text/ids.ts';
import { newTerms } from './rules/change-license.ts';
import type { PurchaseDecision, SlotDecision } from './rules/decide.ts';

export interface NewLicense {
  slot: SlotDecision;
  number: number;
  license: LicenseValues;
}

/** Returns the licenses that a purchase lacks. */
export const newLicenses = (
  { slots, isGiving, email, name, isTest }: PurchaseDecision,
  isHeld: (slot: number, number: number) => boolean,
  terms: ReadonlyMap<string, ProductTerms>,
  nowMs: number,
): NewLicense[] => {
  const given = isGiving ? slots.filter(({ wanted }) => wanted.status === 'active') : [];
  return given.flatMap((slot) => {
    const numbers = Array.from({ length: slot.count }, (_, number) => number);
    const { wanted, offer } = slot;
    const updatesDays = terms.get(offer.product)?.updates_days;
    return numbers
      .filter((number) => !isHeld(slot.slot, number))
      .map((number) => ({
        slot,
        number,
        license: {
          ...EMPTY_COLUMNS,
          id: newId('lic'),
          licenseKey: generateLicenseKey(),
          status: 'active' as const,
          product: wanted.product,
          customerEmail: email ?? UNKNOWN_EMAIL,
          customerName: name,
          expiresAt: wanted.expiresAt,
          metadata: isTest ? { test: true } : {},
          terms: newTerms(offer.terms, wanted),
          updatesUntil: updatesDays === undefined ? null : addDays(isoDate(nowMs), updatesDays),
          createdAt: nowMs,
          updatedAt: nowMs,
        },
      }));
  });
};

/** Statements that insert the licenses, if the account has room for them and their products exist. */
export const insertLicenses = (
  ctx: Ctx,
  made: NewLicense[],
  nowMs: number,
): { statements: Statement[]; changes: FeedChange[] } => ({
  statements: made.flatMap(({ license }) => [
    // The license comes last, because the trigger that counts its bytes also counts those of its entry.
    auditCreate(ctx, license.id),
    ctx.db.insert(licenses).values({
      ...license,
      accountId: accountWithRoom(ctx, nowMs),
      updatedAt: ifNamesProduct(ctx, license.product ?? '', nowMs),
    }),
  ]),
  changes: made.flatMap(({ license }) => [
    { kind: 'license' as const, ref: license.id },
    eventChange(licenseEvent('license.created', nowMs, license)),
  ]),
});
