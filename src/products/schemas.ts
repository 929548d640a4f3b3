import * as z from 'zod';
import type { ProductRow } from '../db/schema.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { MAX_DURATION_DAYS } from '../shared/rules/licenses.ts';
import {
  MAX_ENTITLEMENTS,
  MAX_ENTITLEMENTS_BYTES,
  MAX_GRACE_DAYS,
  MAX_LEASE_SECONDS,
  MAX_OFFLINE_DAYS,
  MAX_PRODUCT_CODE_LENGTH,
  MAX_PRODUCT_NAME_LENGTH,
  MAX_SEATS,
  MIN_LEASE_SECONDS,
  NO_LIMIT,
  PRODUCT_CODE_PATTERN,
} from '../shared/rules/terms.ts';
import { text } from '../shared/schemas/fields.ts';
import { listOf } from '../shared/schemas/lists.ts';

const maxActivations = z.int().min(1).max(MAX_SEATS);
const leaseSeconds = z.int().min(MIN_LEASE_SECONDS).max(MAX_LEASE_SECONDS);
const offlineDays = z.int().min(0).max(MAX_OFFLINE_DAYS);
const graceDays = z.int().min(0).max(MAX_GRACE_DAYS);
const maxTransfers = z.int().min(0).max(MAX_SEATS);
const entitlementValue = z.union([z.string(), z.number(), z.boolean()]);

const fits = (value: Record<string, unknown>) =>
  Object.keys(value).length <= MAX_ENTITLEMENTS &&
  new TextEncoder().encode(JSON.stringify(value)).length <= MAX_ENTITLEMENTS_BYTES;
const FITS = `must have at most ${MAX_ENTITLEMENTS} keys and fit in 2 KiB of JSON`;

const DESCRIPTIONS = {
  max_activations: 'The number of seats: machines that may use a license at the same time.',
  lease_seconds:
    'How long a seat is held after its machine’s last verify or heartbeat. Without it, a seat is held until it is released.',
  offline_days: 'For how many days a token is good without contact. The default is 14.',
  max_transfers: 'How many more machines than `max_activations` may hold a seat within 30 days.',
  self_service:
    'Whether an application that finds no seat is told which machines hold the seats, and may replace one. The default is false.',
  duration_days: 'How long a new license lasts, unless its create says otherwise.',
  updates_days: 'For how long a new license gets updates, unless its create says otherwise.',
  grace_days:
    'For how many days after its last day a license stays active, so that a late renewal locks nobody out. The default is 0.',
  entitlements: 'A flat object of strings, numbers, and booleans that applications receive.',
};

const productTermsInput = z
  .strictObject({
    max_activations: maxActivations.nullish().meta({ description: DESCRIPTIONS.max_activations }),
    lease_seconds: leaseSeconds.nullish().meta({ description: DESCRIPTIONS.lease_seconds }),
    offline_days: offlineDays.nullish().meta({ description: DESCRIPTIONS.offline_days }),
    max_transfers: maxTransfers.nullish().meta({ description: DESCRIPTIONS.max_transfers }),
    self_service: z.boolean().nullish().meta({ description: DESCRIPTIONS.self_service }),
    duration_days: z
      .int()
      .min(1)
      .max(MAX_DURATION_DAYS)
      .nullish()
      .meta({ description: DESCRIPTIONS.duration_days }),
    updates_days: z
      .int()
      .min(1)
      .max(MAX_DURATION_DAYS)
      .nullish()
      .meta({ description: DESCRIPTIONS.updates_days }),
    grace_days: graceDays.nullish().meta({ description: DESCRIPTIONS.grace_days }),
    entitlements: z
      .record(z.string().min(1), entitlementValue)
      .refine(fits, FITS)
      .nullish()
      .meta({ description: DESCRIPTIONS.entitlements }),
  })
  .meta({ id: 'ProductTermsInput' });

const lifted = <T extends z.ZodType>(limit: T, description: string) =>
  z
    .union([limit, z.literal(NO_LIMIT)])
    .nullish()
    .meta({ description: `${description} "none" lifts the product’s limit, and null inherits it.` });

export const licenseTermsInput = z
  .strictObject({
    max_activations: lifted(maxActivations, DESCRIPTIONS.max_activations),
    lease_seconds: lifted(leaseSeconds, DESCRIPTIONS.lease_seconds),
    offline_days: offlineDays.nullish().meta({ description: DESCRIPTIONS.offline_days }),
    max_transfers: lifted(maxTransfers, DESCRIPTIONS.max_transfers),
    self_service: z.boolean().nullish().meta({ description: DESCRIPTIONS.self_service }),
    grace_days: graceDays.nullish().meta({ description: DESCRIPTIONS.grace_days }),
    entitlements: z
      .record(z.string().min(1), entitlementValue.nullable())
      .refine(fits, FITS)
      .nullish()
      .meta({ description: `${DESCRIPTIONS.entitlements} An entry that is null takes the product’s away.` }),
  })
  .meta({ id: 'LicenseTermsInput' });

const entitlementsBody = z.record(z.string(), entitlementValue);

const productTermsBody = z
  .object({
    max_activations: z.int().optional(),
    lease_seconds: z.int().optional(),
    offline_days: z.int().optional(),
    max_transfers: z.int().optional(),
    self_service: z.boolean().optional(),
    duration_days: z.int().optional(),
    updates_days: z.int().optional(),
    grace_days: z.int().optional(),
    entitlements: entitlementsBody.optional(),
  })
  .meta({ id: 'ProductTerms', description: 'The terms that were set. An absent field has its default.' });

const limitBody = z.union([z.int(), z.literal(NO_LIMIT)]).optional();

export const licenseTermsBody = z
  .object({
    max_activations: limitBody,
    lease_seconds: limitBody,
    offline_days: z.int().optional(),
    max_transfers: limitBody,
    self_service: z.boolean().optional(),
    grace_days: z.int().optional(),
    entitlements: z.record(z.string(), entitlementValue.nullable()).optional(),
  })
  .meta({
    id: 'LicenseTerms',
    description: 'The license’s own terms. It inherits absent fields from its product.',
  });

export const productCode = z.object({
  code: z
    .string()
    .min(1)
    .max(MAX_PRODUCT_CODE_LENGTH)
    .regex(PRODUCT_CODE_PATTERN, 'must consist of A-Z, a-z, 0-9, -, _ and .'),
});

/** A parameter of what sets a license's product. */
export const allowUnknownProduct = z.enum(['true', 'false']).default('false').meta({
  description:
    'With `true`, `product` may be a mere label. Otherwise, it must be the code of a product as soon as the account has products.',
});

export const putProductInput = z
  .strictObject({ name: text(MAX_PRODUCT_NAME_LENGTH).nullish(), terms: productTermsInput.nullish() })
  .meta({ id: 'PutProduct' });

export const productBody = z
  .object({
    code: z.string().meta({ examples: ['orrery-pro'] }),
    name: z.string().nullable(),
    terms: productTermsBody,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Product' });

export const productListBody = listOf(productBody).meta({ id: 'ProductList' });

export const deletedProductBody = z
  .object({ code: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedProduct' });

export const toProduct = (row: ProductRow): z.infer<typeof productBody> => ({
  code: row.code,
  name: row.name,
  terms: row.terms,
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
});
