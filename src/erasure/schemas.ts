import * as z from 'zod';
import { isNobodys } from '../shared/rules/licenses.ts';
import { email } from '../shared/schemas/fields.ts';
import { code } from '../two-factor/schemas.ts';
import { currentPassword } from '../users/schemas.ts';

export const eraseAccountInput = z
  .strictObject({
    current_password: currentPassword,
    confirm: email.meta({ description: 'The email address of the account.' }),
    code: code.optional().meta({
      description:
        'A code of the authenticator app, or a recovery code. Required with two-factor authentication.',
    }),
  })
  .meta({ id: 'EraseAccount' });

export const eraseCustomerInput = z
  .strictObject({
    customer_email: email
      .refine((value) => !isNobodys(value), 'must be the address of a customer, and this one stands for many')
      .meta({ description: 'The email address of the customer, in any case.' }),
  })
  .meta({ id: 'EraseCustomer' });

const count = z.number().int();

export const erasedCustomerBody = z
  .object({
    licenses: count.meta({
      description: 'Licenses that the customer has or had, and others that have named them.',
    }),
    activations: count.meta({ description: 'Machines of these licenses, which have no name anymore.' }),
    events: count.meta({ description: 'Events that named the customer.' }),
  })
  .meta({ id: 'ErasedCustomer' });

export const erasureBody = z
  .object({
    erased_by: z.string().meta({
      format: 'date-time',
      description: 'When everything of the account is erased. Signing in before then keeps the account.',
    }),
  })
  .meta({ id: 'Erasure' });
