import * as z from 'zod';
import { currentPassword } from '../accounts/schemas.ts';
import { email } from '../http/input.ts';

export const eraseAccountInput = z
  .strictObject({
    current_password: currentPassword,
    confirm: email.meta({ description: 'The email address of the account.' }),
  })
  .meta({ id: 'EraseAccount' });

export const erasureBody = z
  .object({
    erased_by: z.string().meta({
      format: 'date-time',
      description: 'When everything of the account is erased. Signing in before then keeps the account.',
    }),
  })
  .meta({ id: 'Erasure' });
