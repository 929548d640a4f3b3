import * as z from 'zod';
import type { LicenseRow, PurchaseMailRow, PurchaseRow } from '../db/schema.ts';
import { productCode } from '../products/schemas.ts';
import { isoDate, isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { LICENSE_STATES, licenseState } from '../shared/rules/licenses.ts';
import { PURCHASE_STATUSES, STORE_PROVIDERS } from '../shared/rules/stores.ts';
import { searchField } from '../shared/schemas/fields.ts';
import { listOf, pageQuery } from '../shared/schemas/lists.ts';
import type { StoredFact } from './load.ts';

const status = z.enum(PURCHASE_STATUSES);

/** Purchases that a text finds in one way. */
export const MAX_FOUND = 500;

export const listPurchasesQuery = z.object({
  ...pageQuery('pur'),
  status: status.optional(),
  q: searchField.optional().meta({
    description: `The beginning of the customer’s email address, or an order number, a license key, or any id of the store’s. Finds at most ${MAX_FOUND} purchases by each.`,
  }),
});
export type ListPurchasesInput = z.output<typeof listPurchasesQuery>;

export const assignInput = z.strictObject({ product: productCode.shape.code }).meta({ id: 'AssignPurchase' });

const purchaseFields = {
  id: z.string().meta({ examples: ['pur_0VJ1mKq7XbT2c9LpQwZa'] }),
  store_id: z.string(),
  provider: z.enum(STORE_PROVIDERS),
  status,
  reason: z.string().nullable().meta({
    description: 'Why it has no license, or not all of them, such as `no_offer` or `license_limit_reached`.',
  }),
  order: z.string().nullable().meta({ description: 'The number that the store shows people.' }),
  customer_email: z.string().nullable(),
  customer_name: z.string().nullable(),
  test: z.boolean().meta({ description: 'Whether it was made in the store’s test mode.' }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

const factBody = z.object({
  kind: z.string(),
  about: z.string().meta({ examples: ['invoice/in_1'] }),
  at: z.iso.datetime().nullable().meta({ description: 'When it happened at the store, if that is known.' }),
  taken_at: z.iso.datetime(),
  details: z.record(z.string(), z.unknown()),
});

const soldLicenseBody = z.object({
  id: z.string(),
  license_key: z.string(),
  status: z.enum(LICENSE_STATES),
  product: z.string().nullable(),
  expires_at: z.string().nullable(),
});

const mailBody = z.object({
  status: z.enum(['due', 'waiting', 'sent', 'not_sent']),
  due_at: z.iso.datetime().nullable(),
  sent_at: z.iso.datetime().nullable(),
  problem: z.string().nullable().meta({
    description: 'What it waits for, or why it was not sent, such as `no_address` or `limit_of_the_day`.',
  }),
});

export const purchaseBody = z.object(purchaseFields).meta({ id: 'Purchase' });
export const purchaseListBody = listOf(purchaseBody).meta({ id: 'PurchaseList' });
export const purchaseDetailsBody = z
  .object({
    ...purchaseFields,
    facts: z.array(factBody).meta({ description: 'What the store has said about it, the oldest first.' }),
    licenses: z.array(soldLicenseBody),
    mails: z.array(mailBody),
  })
  .meta({ id: 'PurchaseDetails' });

export const toPurchase = (row: PurchaseRow): z.infer<typeof purchaseBody> => ({
  id: row.id,
  store_id: row.storeId,
  provider: row.provider,
  status: row.status,
  reason: row.reason,
  order: row.orderNumber,
  customer_email: row.customerEmail,
  customer_name: row.customerName,
  test: row.isTest,
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
});

export const toFactBody = ({ fact, takenAtMs }: StoredFact): z.infer<typeof factBody> => {
  const { kind, about, atMs, ...details } = fact;
  return { kind, about, at: isoTimeOrNull(atMs ?? null), taken_at: isoTime(takenAtMs), details };
};

export const toSoldLicense = (row: LicenseRow): z.infer<typeof soldLicenseBody> => ({
  id: row.id,
  license_key: row.licenseKey,
  status: licenseState(row, isoDate(Date.now())),
  product: row.product,
  expires_at: row.expiresAt,
});

const mailStatus = ({ sentAt, dueAt, problem }: PurchaseMailRow) => {
  if (sentAt !== null) return 'sent';
  if (problem === 'no_address' || (problem !== null && dueAt !== null)) return 'waiting';
  return dueAt === null ? 'not_sent' : 'due';
};

export const toMailBody = (row: PurchaseMailRow): z.infer<typeof mailBody> => ({
  status: mailStatus(row),
  due_at: isoTimeOrNull(row.dueAt),
  sent_at: isoTimeOrNull(row.sentAt),
  problem: row.problem,
});
