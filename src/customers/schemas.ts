import * as z from 'zod';
import { byField, customerWords, PERSONAL_FIELDS } from '../shared/rules/license-fields.ts';
import { MAX_COUNTED, MIN_SUBSTRING_LENGTH } from '../shared/rules/licenses.ts';
import { searchField } from '../shared/schemas/fields.ts';
import { listOf, pageAfter } from '../shared/schemas/lists.ts';

/** An email address in base64url, or the number of a license. */
const CURSOR = /^[0-9A-Za-z_-]{1,1200}$/;

export const listCustomersQuery = z.object({
  ...pageAfter(CURSOR),
  q: searchField.optional().meta({
    description: `Finds customers whose last added license has all of the words in their ${customerWords('disjunction')}. Upper and lower case and accents don’t matter. Fewer than ${MIN_SUBSTRING_LENGTH} characters match only the beginning. Those whose licenses were added last come first.`,
  }),
});

export const customerBody = z
  .object({
    customer_email: z.string(),
    ...byField(PERSONAL_FIELDS, () =>
      z.string().nullable().meta({ description: 'As in the license that was added last.' }),
    ),
    licenses: z
      .number()
      .int()
      .meta({ description: `How many licenses the customer has. It stops at ${MAX_COUNTED}.` }),
    purchases: z
      .number()
      .int()
      .meta({
        description: `How many purchases the account’s stores have reported for the address. It stops at ${MAX_COUNTED}.`,
      }),
    last_license_at: z.iso
      .datetime()
      .meta({ description: 'When the license was created that was added last.' }),
  })
  .meta({ id: 'Customer' });

export const customerListBody = listOf(customerBody).meta({ id: 'CustomerList' });
