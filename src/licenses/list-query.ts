import * as z from 'zod';
import { MAX_EMAIL_LENGTH } from '../shared/rules/accounts.ts';
import { SEARCHED_FIELDS } from '../shared/rules/license-fields.ts';
import { LICENSE_STATES, MAX_PRODUCT_LENGTH } from '../shared/rules/licenses.ts';
import { canonicalEmail, searchField, text } from '../shared/schemas/fields.ts';
import { pageAfter } from '../shared/schemas/lists.ts';
import { SORTS } from './sorts.ts';
import { MAX_SEARCHED_ENTRIES, MAX_SEARCHED_LENGTH } from './trigrams.ts';

const MAX_METADATA_FILTERS = 5;

const timeOrDate = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((time) => Date.parse(time))
  .optional();
const SHORT_PAGES =
  'A page can have fewer licenses than `limit`, or none, although more follow: the list ends where `next_cursor` is null.';

export const listLicensesQuery = z.object({
  ...pageAfter(/^[0-9A-Za-z_-]{1,600}$/),
  status: z.enum(LICENSE_STATES).optional(),
  customer_email: z.string().overwrite(canonicalEmail).min(1).max(MAX_EMAIL_LENGTH).optional(),
  product: text(MAX_PRODUCT_LENGTH).optional(),
  metadata: z
    .record(z.string(), z.string())
    .refine((entries) => Object.keys(entries).length <= MAX_METADATA_FILTERS, {
      error: `must have at most ${MAX_METADATA_FILTERS} entries`,
    })
    .optional()
    .meta({
      description: `Finds licenses by entries of their metadata, as \`metadata.order=1001\` or \`metadata[order]=1001\`. Numbers and booleans are compared as text. No index has metadata: a page compares about 1,000 licenses, or those that \`customer_email\`, \`product\`, \`status\`, or \`q\` find if they are fewer. ${SHORT_PAGES}`,
    }),
  expires_at: z.literal('never').optional().meta({ description: 'Only licenses that never expire.' }),
  expires_before: z.iso.date().optional().meta({ description: 'Only licenses whose last day is earlier.' }),
  expires_after: z.iso.date().optional().meta({ description: 'Only licenses whose last day is later.' }),
  created_before: timeOrDate.meta({
    description: 'Only licenses that were created earlier. A date is its first moment in UTC.',
  }),
  created_after: timeOrDate.meta({
    description: 'Only licenses that were created later. A date is its first moment in UTC.',
  }),
  sort: z.enum(SORTS).optional().meta({
    description:
      'The order, descending with `-`. The default is `-created_at`, and `-expires_at` with `status=expired`. Licenses that never expire come after all dates.',
  }),
  q: searchField.optional().meta({
    description: `Finds licenses that have all of the words, each in one of these: ${SEARCHED_FIELDS.map((field) => `\`${field}\``).join(', ')}, and the values of \`metadata\` (of the first ${MAX_SEARCHED_ENTRIES} texts and numbers that have at most ${MAX_SEARCHED_LENGTH} characters). Upper and lower case, accents, and more than one space don’t matter. One or two characters match only the beginning of a field, or next to longer words the beginning of a word. A complete license key or email address finds only its own licenses. ${SHORT_PAGES}`,
  }),
});
