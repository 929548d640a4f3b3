import * as z from 'zod';
import { SECTION_NAMES, type SectionName } from './export-sections.ts';

const count = z.int().min(0);
const text = z.string().max(300);

const ID = z.tuple([text]);
const NUMBERED = z.tuple([text, count]);
const ONE_PAGE = z.never();

/** What names a row of each section. */
const KEYS: Record<SectionName, z.ZodType<(string | number)[]>> = {
  account: ONE_PAGE,
  portal: ONE_PAGE,
  products: ID,
  product_mails: ID,
  licenses: ID,
  payments: ID,
  api_keys: ID,
  webhooks: ONE_PAGE,
  stores: ID,
  offers: z.tuple([text, text]),
  purchases: ID,
  activations: z.tuple([text, text]),
  usage_days: ONE_PAGE,
  seat_changes: NUMBERED,
  license_changes: NUMBERED,
  sign_in_audit: ID,
  audit: ID,
};

const exportPosition = z
  .strictObject({
    section: z.enum(SECTION_NAMES),
    /** The last row that was read of the section. Null at its beginning. */
    after: z.array(z.union([text, count])).nullable(),
    /** The lines of each type so far, so that the last line counts the whole file. */
    counts: z.record(z.string().max(20), count),
  })
  .refine(({ section, after }) => after === null || KEYS[section].safeParse(after).success);
export type ExportPosition = z.output<typeof exportPosition>;

export const writeCursor = (position: ExportPosition): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

const readCursor = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
};

export const exportQuery = z.strictObject({
  cursor: z
    .string()
    .max(2_000)
    .transform((cursor, context) => {
      const position = exportPosition.safeParse(readCursor(cursor));
      if (position.success) return position.data;
      context.addIssue('must be the cursor of an export');
      return z.NEVER;
    })
    .optional()
    .meta({
      description:
        'Continues an export after its last line of the type `cursor`. Leave out the lines after that one, and the line itself: the answer repeats them.',
    }),
});
