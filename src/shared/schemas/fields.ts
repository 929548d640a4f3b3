import * as z from 'zod';
import { MAX_EMAIL_LENGTH } from '../rules/accounts.ts';
// Configures zod before the first schema is built.
import './issues.ts';

/** Text that isn't empty. JSON can contain lone surrogates but UTF-8 can't, so they are replaced with U+FFFD. */
export const text = (maxLength: number) =>
  z
    .string()
    .overwrite((value) => value.toWellFormed())
    .trim()
    .min(1)
    .max(maxLength);

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(MAX_EMAIL_LENGTH)
  .pipe(z.email())
  .meta({ format: 'email', examples: ['ada@example.com'] });
