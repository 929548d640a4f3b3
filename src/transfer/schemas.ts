import * as z from 'zod';
import { fingerprint } from '../activations/schemas.ts';
import { createLicenseInput } from '../licenses/schemas.ts';
import { allowUnknownProduct, productCode, putProductInput } from '../products/schemas.ts';
import { AppError, type ErrorDetail } from '../shared/app-error.ts';
import { isoDate } from '../shared/rules/dates.ts';
import { isMetadataColumn } from '../shared/rules/import-lines.ts';
import { ERROR_COLUMN } from '../shared/rules/import/columns.ts';
import { LICENSE_STATES } from '../shared/rules/licenses.ts';
import { MAX_COLUMNS, MAX_LINE_LENGTH } from '../shared/rules/transfer-limits.ts';
import { text } from '../shared/schemas/fields.ts';
import { toDetails } from '../shared/schemas/issues.ts';
import { createWebhookInput } from '../webhooks/schemas.ts';

const EXPORT_TYPES = [
  'account',
  'portal',
  'product',
  'product_mail',
  'license',
  'activation',
  'api_key',
  'webhook',
  'store',
  'offer',
  'purchase',
  'payment',
  'usage_day',
  'license_change',
  'audit',
] as const;
export type ExportType = (typeof EXPORT_TYPES)[number];

/** Times before 1970 would have ids that don't sort, and a time in the future hasn't come. */
const pastTime = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((time) => Date.parse(time))
  .refine((ms) => ms >= 0 && ms <= Date.now() + 86_400_000, 'must be between 1970 and now');
const time = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));

/** Fields that an export has and an import doesn't take over. */
const ignored = z.unknown().optional();

const licenseLine = z
  .strictObject({
    ...createLicenseInput.shape,
    type: z.literal('license').optional(),
    status: z.enum(LICENSE_STATES).optional(),
    created_at: pastTime.optional(),
    copy: z.int().min(1).optional().meta({
      description:
        'Tells equal lines without a license key apart, which may be in different requests. By default, the lines of a request are counted.',
    }),
    id: ignored,
    updated_at: ignored,
    // Why the line failed before, in a file of failed lines that was corrected.
    [ERROR_COLUMN]: ignored,
  })
  .refine(({ expires_at, duration_days }) => expires_at === undefined || duration_days === undefined, {
    path: ['duration_days'],
    error: 'can’t be combined with expires_at',
  })
  .refine(({ status, expires_at }) => status !== 'expired' || (expires_at ?? '9999') < isoDate(Date.now()), {
    path: ['status'],
    error: 'is expired, so expires_at must be a day in the past',
  });
export type LicenseLine = z.output<typeof licenseLine>;

/** Whether an export has written the line. It says what the license was, so that its product may be a mere label. */
export const isOfExport = ({ type, id }: LicenseLine): boolean => type === 'license' && id !== undefined;

const productLine = z.strictObject({
  ...putProductInput.shape,
  ...productCode.shape,
  type: z.literal('product'),
  created_at: pastTime.optional(),
  updated_at: ignored,
});
export type ProductLine = z.output<typeof productLine>;

const activationLine = z.strictObject({
  type: z.literal('activation'),
  license_key: z.string().min(1),
  fingerprint,
  name: text(100).nullish(),
  platform: text(60).nullish(),
  app_version: text(60).nullish(),
  activated_at: pastTime,
  last_seen_at: pastTime.optional(),
  last_counted_at: pastTime.optional(),
  lease_until: time.nullish(),
  file_until: time.nullish(),
  released_at: pastTime.nullish(),
  id: ignored,
  license_id: ignored,
});
export type ActivationLine = z.output<typeof activationLine>;

const webhookLine = z.strictObject({
  ...createWebhookInput.shape,
  type: z.literal('webhook'),
  id: ignored,
  status: ignored,
  disabled_reason: ignored,
  failing_since: ignored,
  created_at: ignored,
  updated_at: ignored,
});
export type WebhookLine = z.output<typeof webhookLine>;

const LINES = {
  license: licenseLine,
  product: productLine,
  activation: activationLine,
  webhook: webhookLine,
};
type Taken = keyof typeof LINES;
const isTaken = (type: string): type is Taken => Object.hasOwn(LINES, type);
/** Types of lines that an import skips. */
const SKIPPED = new Set<string>([...EXPORT_TYPES.filter((type) => !isTaken(type)), 'cursor', 'end']);

export interface LineError {
  code: string;
  message: string;
  details?: ErrorDetail[];
}

/** Why what a line asks for was refused, or null for an error after which it may succeed, or may have succeeded. */
export const refusalOf = (error: unknown): LineError | null => {
  if (!(error instanceof AppError) || error.code === 'unavailable') return null;
  const { details } = error.options;
  return {
    code: error.code,
    message: details?.[0]?.message ?? error.message,
    ...(details && { details }),
  };
};

export type ParsedLine =
  | { type: 'license'; value: LicenseLine }
  | { type: 'product'; value: ProductLine }
  | { type: 'activation'; value: ActivationLine }
  | { type: 'webhook'; value: WebhookLine }
  | { type: 'skipped' }
  | { type: 'failed'; error: LineError };

export const failed = (code: string, message: string, details?: ErrorDetail[]): ParsedLine => ({
  type: 'failed',
  error: { code, message, ...(details && { details }) },
});

/** Checks a line of an import. A line without a type is a license. */
export const parseLine = (value: unknown): ParsedLine => {
  const type = (value as { type?: unknown } | null)?.type ?? 'license';
  if (typeof type !== 'string' || (!isTaken(type) && !SKIPPED.has(type)))
    return failed('invalid_request', 'Unknown Type', [
      { path: 'type', message: 'is not a type of an export' },
    ]);
  if (!isTaken(type)) return { type: 'skipped' };
  const parsed = LINES[type].safeParse(value);
  if (!parsed.success) return failed('invalid_request', 'Invalid Request', toDetails(parsed.error));
  return { type, value: parsed.data } as ParsedLine;
};

/** Returns the columns of a CSV file that no license has. */
export const unknownColumns = (columns: string[]): ErrorDetail[] =>
  columns
    .filter((name) => !Object.hasOwn(licenseLine.shape, name) && !isMetadataColumn(name))
    .map((path) => ({ path, message: 'is not a known column' }));

const flag = z.enum(['true', 'false']).default('false');

export const importQuery = z.strictObject({
  on_conflict: z.enum(['fail', 'skip', 'update']).default('fail').meta({
    description:
      'What happens to a line whose license key or product code exists with other values: the line fails, is skipped, or updates what exists. An update leaves absent fields as they are.',
  }),
  dry_run: flag.meta({
    description: 'With `true`, nothing is changed, and the answer says what would happen.',
  }),
  allow_unknown_product: allowUnknownProduct,
  events: flag.meta({ description: 'With `true`, each new license sends `license.created`.' }),
  cursor: z
    .string()
    .regex(/^[1-9][0-9]{0,6}$/, 'must be a next_cursor of an import')
    .optional()
    .meta({
      description:
        'Continues after the lines that earlier requests have imported: send the same body with the answer’s `next_cursor`. After an answer that was cut off, the number of the last line in it serves as well.',
    }),
});
export type ImportOptions = {
  onConflict: z.output<typeof importQuery>['on_conflict'];
  isDryRun: boolean;
  allowsLabels: boolean;
  hasEvents: boolean;
};

/** The details of an import's entry in the audit log. An import that has died has no totals there. */
export const auditDetails = (
  { onConflict, hasEvents }: ImportOptions,
  totals: Record<string, number> = {},
) => ({ on_conflict: onConflict, events: hasEvents, ...totals });

export const RESULTS = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const;
export type ImportResult = (typeof RESULTS)[number];

const lineResult = z.object({
  line: z.int().meta({ description: 'The line’s number in the body, from 1.' }),
  result: z.enum(RESULTS),
  id: z.string().optional().meta({ description: 'The id of the license.' }),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    })
    .optional(),
});

export const importBody = z
  .union([
    lineResult,
    z.object({
      totals: z
        .object({ lines: z.int(), ...Object.fromEntries(RESULTS.map((result) => [result, z.int()])) })
        .meta({ description: 'The last line. Without it, the answer was cut off.' }),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: 'The cursor with which to send the same body again, or null if all is read.' }),
    }),
  ])
  .meta({ id: 'ImportResult' });

export const importFile = z.string().meta({
  id: 'ImportFile',
  description: `Lines of JSON, or a CSV file with a header of at most ${MAX_COLUMNS} columns. At most 5 MiB. A line has at most ${MAX_LINE_LENGTH} characters.`,
});

export const exportBody = z
  .union([
    z.looseObject({ type: z.enum(EXPORT_TYPES) }),
    z.object({ type: z.literal('cursor'), cursor: z.string() }),
    z.object({ type: z.literal('end'), counts: z.record(z.string(), z.int()) }),
  ])
  .meta({ id: 'ExportLine' });
