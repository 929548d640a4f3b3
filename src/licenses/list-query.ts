import * as z from 'zod';
import { SEARCHED_FIELDS } from '../shared/rules/license-fields.ts';
import { LICENSE_STATES, MAX_PRODUCT_LENGTH, SEAT_FILTERS } from '../shared/rules/licenses.ts';
import { emailToFind, searchField, text } from '../shared/schemas/fields.ts';
import { pageAfter } from '../shared/schemas/lists.ts';
import { SORTS } from './sorts.ts';
import { MAX_SEARCHED_ENTRIES, MAX_SEARCHED_LENGTH } from './trigrams.ts';

const MAX_METADATA_FILTERS = 5;
/** As long as a fingerprint. */
const MAX_MACHINE_LENGTH = 256;

const timeOrDate = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((time) => Date.parse(time))
  .optional();
const SHORT_PAGES =
  'A page can have fewer licenses than `limit`, or none, even if more follow: the list ends where `next_cursor` is null.';

export const listLicensesQuery = z.object({
  ...pageAfter(/^[0-9A-Za-z_-]{1,600}$/),
  status: z.enum(LICENSE_STATES).optional(),
  customer_email: emailToFind.min(1).optional(),
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
  seats: z
    .enum(SEAT_FILTERS)
    .optional()
    .meta({
      description: `\`full\` finds licenses all of whose seats are taken (\`used\` is at least \`limit\`), and \`used\` those with a seat that is taken, also without a limit. Seats are as a verify would find them at that moment: one whose lease has ended is free. A page looks through up to 11,000 machines. The order is by \`created_at\`. ${SHORT_PAGES}`,
    }),
  machine: text(MAX_MACHINE_LENGTH)
    .optional()
    .meta({
      description: `Finds licenses by one of their machines: its whole fingerprint, the id of its activation, or the beginning of its name. If more than 1,000 machines have names that begin with it, only those with exactly this name are found. Upper and lower case don’t matter in a name’s letters A to Z. A machine is found while it holds a seat, and for about 30 days after. The order is by \`created_at\`. Can’t be combined with \`seats\`. ${SHORT_PAGES}`,
    }),
  sort: z.enum(SORTS).optional().meta({
    description:
      'The order, descending with `-`. The default is `-created_at`, and `-expires_at` with `status=expired`. Lists with `q` alone, with `q` and `status` alone, or with another `status` alone have the order in which licenses were added, the last first: an imported license comes where it was added, whatever its `created_at`. Licenses that never expire come after all dates.',
  }),
  q: searchField.optional().meta({
    description: `Finds licenses that have all of the words, each in one of these: ${SEARCHED_FIELDS.map((field) => `\`${field}\``).join(', ')}, and the values of \`metadata\` (of the first ${MAX_SEARCHED_ENTRIES} texts and numbers that have at most ${MAX_SEARCHED_LENGTH} characters). Upper and lower case, accents, and more than one space don’t matter. One or two characters match only the beginning of a field, or next to longer words the beginning of a word. A complete email address, or a complete license key that the service has generated, finds only its own licenses. ${SHORT_PAGES}`,
  }),
});
