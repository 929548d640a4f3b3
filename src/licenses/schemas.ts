import * as z from 'zod';
import { actorBody } from '../audit/schemas.ts';
import type { LicenseValues } from '../db/schema.ts';
import { allowUnknownProduct, licenseTermsBody, licenseTermsInput } from '../products/schemas.ts';
import { invalidField } from '../shared/app-error.ts';
import { isoDate, isoTime } from '../shared/rules/dates.ts';
import {
  byColumn,
  byField,
  CHANGEABLE_FIELDS,
  type ColumnOf,
  columnOf,
  LICENSE_FIELDS,
  type LicenseField,
  TEXT_FIELDS,
} from '../shared/rules/license-fields.ts';
import {
  LICENSE_KEY_PATTERN,
  LICENSE_STATES,
  licenseState,
  MAX_DURATION_DAYS,
  MAX_LICENSE_KEY_LENGTH,
  MAX_METADATA_BYTES,
  MAX_PRODUCT_LENGTH,
  MAX_REASON_LENGTH,
  type Metadata,
  MIN_LICENSE_KEY_LENGTH,
} from '../shared/rules/licenses.ts';
import { type LicenseTerms, mergeTerms } from '../shared/rules/terms.ts';
import { email, text } from '../shared/schemas/fields.ts';
import { listOf, numberedPageQuery } from '../shared/schemas/lists.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';

const durationDays = z.number().int().min(1).max(MAX_DURATION_DAYS);

const metadataValue = z.union([z.string(), z.number(), z.boolean()]);
const storedMetadata = z.record(z.string(), metadataValue);
const fitsMetadata = (value: object) =>
  new TextEncoder().encode(JSON.stringify(value)).length <= MAX_METADATA_BYTES;
const FITS_METADATA = 'must fit in 4 KiB of JSON';

const metadata = storedMetadata
  .refine(fitsMetadata, FITS_METADATA)
  .meta({ description: 'A flat object of strings, numbers, and booleans, up to 4 KiB.' });

const product = text(MAX_PRODUCT_LENGTH).nullish().meta({
  description:
    'The code of a product, whose terms the license then has. While the account has no products, any label.',
});
const texts = byField(TEXT_FIELDS, (field) => text(LICENSE_FIELDS[field].maxLength).nullish());
const LAST_DAY = {
  description: 'The last day (UTC) on which the license is valid. A perpetual license has null.',
};
/** Must be today or later, too: see requireTodayOrLater. */
const expiresAt = z.iso.date().nullish().meta(LAST_DAY);
const updatesUntil = z.iso.date().nullish().meta({
  description: 'The last release date that the license covers. Null covers all releases.',
});

const ownLicenseKey = z
  .string()
  .min(MIN_LICENSE_KEY_LENGTH)
  .max(MAX_LICENSE_KEY_LENGTH)
  .regex(LICENSE_KEY_PATTERN, 'must consist of A-Z, a-z, 0-9, -, _ and .')
  .optional()
  .meta({ description: 'Your own license key. By default, a key is generated.' });

const oneExpiry = (input: { expires_at?: string | null | undefined; duration_days?: number | undefined }) =>
  input.expires_at === undefined || input.duration_days === undefined;
const ONE_EXPIRY = { path: ['duration_days'], error: 'can’t be combined with expires_at' };

/** The order of the fields decides which keys the lines of an import without a key get: see openKeys. */
export const createLicenseInput = z
  .strictObject({
    customer_email: email
      .nullish()
      .meta({ description: 'The customer’s email address. The default is the account’s own.' }),
    ...texts,
    product,
    expires_at: expiresAt,
    duration_days: durationDays.optional(),
    license_key: ownLicenseKey,
    metadata: metadata.nullish(),
    terms: licenseTermsInput.nullish(),
    updates_until: updatesUntil,
  })
  .refine(oneExpiry, ONE_EXPIRY)
  .meta({ id: 'CreateLicense' });

export const patchLicenseInput = z
  .strictObject({
    customer_email: email.optional(),
    ...texts,
    product,
    expires_at: expiresAt,
    metadata: z.record(z.string(), metadataValue.nullable()).optional().meta({
      description: 'Merged into the license’s metadata, entry by entry. Null removes an entry.',
    }),
    terms: licenseTermsInput
      .optional()
      .meta({ description: 'Merged into the license’s terms, field by field.' }),
    updates_until: updatesUntil,
  })
  .meta({ id: 'PatchLicense' });

export const setProductQuery = z.object({ allow_unknown_product: allowUnknownProduct });

export const rotateKeyInput = z.strictObject({ license_key: ownLicenseKey }).meta({ id: 'RotateKey' });

export const transitionInput = z
  .strictObject({
    reason: text(MAX_REASON_LENGTH).nullish().meta({
      description: 'Shown in the license’s history and sent with the event. The customer doesn’t see it.',
    }),
  })
  .meta({ id: 'LicenseTransition' });
export type TransitionInput = z.output<typeof transitionInput>;

export const deletedLicenseBody = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedLicense' });

export const renewLicenseInput = z
  .strictObject({ expires_at: expiresAt, duration_days: durationDays.optional() })
  .refine(oneExpiry, ONE_EXPIRY)
  .refine((input) => input.expires_at !== undefined || input.duration_days !== undefined, {
    path: ['expires_at'],
    error: 'is required unless duration_days is set',
  })
  .meta({ id: 'RenewLicense' });

export const historyQuery = z.object(numberedPageQuery);

export const licenseBody = z
  .object({
    id: z.string().meta({ examples: ['lic_0VJ1mKq7XbT2c9LpQwZa'] }),
    license_key: z.string(),
    status: z.enum(LICENSE_STATES),
    product: z.string().nullable(),
    customer_email: z.string(),
    ...byField(TEXT_FIELDS, () => z.string().nullable()),
    expires_at: z.iso.date().nullable(),
    metadata: storedMetadata,
    terms: licenseTermsBody,
    updates_until: z.iso.date().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  } satisfies Record<LicenseField, z.ZodType>)
  .meta({ id: 'License' });

export const licenseListBody = listOf(licenseBody).meta({ id: 'LicenseList' });

const HISTORY_ACTIONS = [
  'created',
  'changed',
  'suspended',
  'reinstated',
  'revoked',
  'renewed',
  'key_rotated',
] as const;

/** The fields whose changes a license's history records, the most telling first. */
export const HISTORY_FIELDS = [...new Set(['status', 'expires_at', ...CHANGEABLE_FIELDS] as const)];

const historyValue = z.union([z.string(), licenseTermsBody, storedMetadata]).nullable();

export const historyEntryBody = z
  .object({
    action: z
      .enum(HISTORY_ACTIONS)
      .meta({ description: 'What happened. `renewed` means that only `expires_at` changed.' }),
    at: z.iso.datetime(),
    changes: z
      .array(z.object({ field: z.enum(HISTORY_FIELDS), from: historyValue, to: historyValue }))
      .meta({ description: 'The changed fields. Empty for `created`.' }),
    by: actorBody.nullable().meta({
      description:
        'Who made the change, as in the audit log. Null for `created`, and for changes from before this was recorded.',
    }),
    reason: z.string().nullable().meta({
      description: 'Why the license was suspended, reinstated, or revoked, if whoever did so gave a reason.',
    }),
    import_id: z.string().nullable().meta({
      description: 'The id of the entry in the audit log, if an import made the change.',
    }),
    imported_at: z.iso.datetime().nullable().meta({
      description: 'When the import ran, which may be long after `created`. Null without `import_id`.',
    }),
  })
  .meta({ id: 'LicenseHistoryEntry' });

export const historyBody = listOf(historyEntryBody).meta({ id: 'LicenseHistory' });

export const toLicense = (row: LicenseValues): z.infer<typeof licenseBody> => ({
  id: row.id,
  license_key: row.licenseKey,
  status: licenseState(row, isoDate(Date.now())),
  product: row.product,
  customer_email: row.customerEmail,
  ...byField(TEXT_FIELDS, (field) => row[columnOf(field)]),
  expires_at: row.expiresAt,
  metadata: row.metadata,
  terms: row.terms,
  updates_until: row.updatesUntil,
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
});

/** The columns of a license that is created without any field. */
export const EMPTY_COLUMNS = {
  product: null,
  ...byColumn(TEXT_FIELDS, () => null),
  metadata: {},
  terms: {},
  updatesUntil: null,
};

const mergeMetadata = (stored: Metadata, changes: Record<string, Metadata[string] | null>): Metadata => {
  const entries = Object.entries({ ...stored, ...changes });
  const merged = Object.fromEntries(
    entries.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
  if (!fitsMetadata(merged)) throw invalidField('metadata', FITS_METADATA);
  return merged;
};

/** Maps the input of a create or a PATCH to columns. Absent fields are left out. `stored` is what the license has so far. */
export const toColumns = (
  input: z.output<typeof createLicenseInput> | z.output<typeof patchLicenseInput>,
  stored: { terms: LicenseTerms; metadata: Metadata } = { terms: {}, metadata: {} },
) =>
  omitUndefined({
    product: input.product,
    customerEmail: input.customer_email ?? undefined,
    ...byColumn(TEXT_FIELDS, (field) => input[field]),
    expiresAt: input.expires_at,
    metadata: input.metadata ? mergeMetadata(stored.metadata, input.metadata) : undefined,
    terms: input.terms ? mergeTerms(stored.terms, input.terms) : undefined,
    updatesUntil: input.updates_until,
  } satisfies Record<ColumnOf<keyof z.output<typeof patchLicenseInput>>, unknown>);
