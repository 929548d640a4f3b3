import * as z from 'zod';
import type { OfferRow, StoreRow } from '../db/schema.ts';
import { licenseTermsBody, licenseTermsInput, productCode } from '../products/schemas.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { MAX_DURATION_DAYS } from '../shared/rules/licenses.ts';
import {
  DEFAULT_GRACE_DAYS,
  DISPUTE_ACTIONS,
  GRANTS,
  MAX_OFFER_REF_LENGTH,
  MAX_STORE_NAME_LENGTH,
  QUANTITIES,
  REFUND_ACTIONS,
  STORE_PROVIDERS,
} from '../shared/rules/stores.ts';
import { MAX_GRACE_DAYS } from '../shared/rules/terms.ts';
import { text } from '../shared/schemas/fields.ts';
import { listOf } from '../shared/schemas/lists.ts';

const name = text(MAX_STORE_NAME_LENGTH);
const secret = z
  .string()
  .trim()
  .min(6)
  .max(500)
  .refine((value) => value !== 'whsec_', 'must have something after whsec_')
  .meta({
    description:
      'What the provider signs with. Leave it out until the provider has made it, which some do once they know the URL. It is never shown again.',
  });
const apiKey = z.string().trim().min(1).max(1_000).meta({
  description:
    'A key for the provider’s API, which finds sales whose notification never came. It is never shown again.',
});
const acceptTest = z.boolean().meta({
  description:
    'Whether purchases in the provider’s test mode make licenses, which then carry the metadata `test`.',
});

export const createStoreInput = z
  .strictObject({
    provider: z.enum(STORE_PROVIDERS),
    name,
    secret: secret.nullish(),
    api_key: apiKey.nullish(),
    accept_test: acceptTest.optional(),
  })
  .meta({ id: 'CreateStore' });

export const patchStoreInput = z
  .strictObject({
    name: name.optional(),
    secret: secret.optional(),
    rotate_secret: z.literal(true).optional().meta({
      description: 'Makes another token, for a provider that signs nothing. The answer’s URL has it.',
    }),
    api_key: apiKey.nullish(),
    accept_test: acceptTest.optional(),
  })
  .meta({ id: 'PatchStore' });

export const storeBody = z
  .object({
    id: z.string().meta({ examples: ['sto_0VJ1mKq7XbT2c9LpQwZa'] }),
    provider: z.enum(STORE_PROVIDERS),
    name: z.string(),
    webhook_url: z.string().meta({ description: 'Where the provider sends its notifications.' }),
    accept_test: z.boolean(),
    has_secret: z.boolean(),
    has_api_key: z.boolean(),
    checked_at: z.iso.datetime().nullable().meta({
      description: 'Everything before this time was found by the provider’s API. Null without a check.',
    }),
    check_problem: z.string().nullable().meta({
      description:
        'What the provider’s API has answered, if the last check has failed, or that the account is full, and nothing was asked.',
    }),
    last_event_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Store' });

export const storeListBody = listOf(storeBody).meta({ id: 'StoreList' });

export const deletedStoreBody = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedStore' });

export const toStore = (row: StoreRow, webhookUrl: string): z.infer<typeof storeBody> => ({
  id: row.id,
  provider: row.provider,
  name: row.name,
  webhook_url: webhookUrl,
  accept_test: row.acceptTest,
  has_secret: row.secret !== null,
  has_api_key: row.apiKey !== null,
  checked_at: row.checkedThrough === 0 ? null : isoTime(row.checkedThrough),
  check_problem: row.checkProblem,
  last_event_at: isoTimeOrNull(row.lastEventAt),
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
});

export const offerRef = z.string().min(1).max(MAX_OFFER_REF_LENGTH);

export const putOfferInput = z
  .strictObject({
    product: productCode.shape.code,
    grant: z.enum(GRANTS).meta({
      description:
        'What a buyer gets: a license without an end, one for some `days`, or one for as long as the subscription is paid.',
    }),
    days: z.int().min(1).max(MAX_DURATION_DAYS).nullish(),
    quantity: z.enum(QUANTITIES).default('licenses').meta({
      description: 'Whether a quantity of three makes three licenses, or one with three seats.',
    }),
    terms: licenseTermsInput.nullish(),
    grace_days: z.int().min(0).max(MAX_GRACE_DAYS).default(DEFAULT_GRACE_DAYS).meta({
      description: 'For how many days after its last paid day the license of a subscription stays active.',
    }),
    on_refund: z.enum(REFUND_ACTIONS).default('revoke'),
    on_dispute: z.enum(DISPUTE_ACTIONS).default('suspend'),
    mail: z.boolean().default(true).meta({ description: 'Whether the buyer gets an email with the key.' }),
  })
  .refine(({ grant, days }) => (grant === 'days') === (typeof days === 'number'), {
    path: ['days'],
    error: ({ input }) =>
      (input as { grant: string }).grant === 'days'
        ? 'is required with the grant “days”'
        : 'belongs to the grant “days”, and to no other',
  })
  .meta({ id: 'PutOffer' });

export const offerBody = z
  .object({
    ref: z.string().meta({ description: 'The store’s id of a price, variant, or product.' }),
    product: z.string(),
    grant: z.enum(GRANTS),
    days: z.int().nullable(),
    quantity: z.enum(QUANTITIES),
    terms: licenseTermsBody,
    grace_days: z.int(),
    on_refund: z.enum(REFUND_ACTIONS),
    on_dispute: z.enum(DISPUTE_ACTIONS),
    mail: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Offer' });

export const offerListBody = listOf(offerBody).meta({ id: 'OfferList' });

export const deletedOfferBody = z
  .object({ ref: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedOffer' });

export const toOffer = (row: OfferRow): z.infer<typeof offerBody> => ({
  ref: row.ref,
  product: row.product,
  grant: row.grant,
  days: row.days,
  quantity: row.quantity,
  terms: row.terms,
  grace_days: row.graceDays,
  on_refund: row.onRefund,
  on_dispute: row.onDispute,
  mail: row.mail,
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
});
