import * as z from 'zod';
import { SECTION_NAMES } from './export-sections.ts';

const count = z.int().min(0);

const exportPosition = z.strictObject({
  section: z.enum(SECTION_NAMES),
  /** The last row that was read of the section. Null at its beginning. */
  after: z
    .array(z.union([z.string().max(300), count]))
    .min(1)
    .max(2)
    .nullable(),
  /** The lines of each type so far, so that the last line counts the whole file. */
  counts: z.record(z.string().max(20), count),
});
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
