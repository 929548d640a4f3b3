import { domainToUnicode } from 'node:url';
import * as z from 'zod';
import { MAX_EMAIL_LENGTH } from '../rules/accounts.ts';
// Configures zod before the first schema is built.
import './issues.ts';

/** Text that may be empty. JSON can contain lone surrogates but UTF-8 can't, so they are replaced with U+FFFD. */
export const anyText = (maxLength: number) =>
  z
    .string()
    .overwrite((value) => value.toWellFormed())
    .trim()
    .max(maxLength);

/** Text that isn't empty. */
export const text = (maxLength: number) => anyText(maxLength).min(1);

/** What a search looks for. A NUL character ends an FTS5 query, in the middle of a quoted string. */
export const searchField = z
  .string()
  .trim()
  .max(200)
  .refine((q) => !q.includes('\0'), 'must not contain a NUL character');

/** Letters of any alphabet in both parts, as mail servers accept them today. */
const EMAIL =
  /^(?!\.)(?!.*\.\.)[\p{L}\p{M}\p{N}_'+\-.]*[\p{L}\p{M}\p{N}_+-]@(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*\.)+\p{L}[\p{L}\p{M}]+$/u;

/** The one spelling of an address: a browser sends `xn--mller-kva.de` for a form in which somebody typed `müller.de`. */
const canonicalEmail = (value: string): string => {
  const address = value.trim().normalize('NFC').toLowerCase();
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToUnicode(address.slice(at)) || address.slice(at));
};

/** An address that is only looked for: one that nobody can have finds nothing. */
export const emailToFind = z.string().overwrite(canonicalEmail).max(MAX_EMAIL_LENGTH);

export const email = z
  .string()
  .overwrite(canonicalEmail)
  .max(MAX_EMAIL_LENGTH)
  .pipe(z.email({ pattern: EMAIL }))
  .meta({ format: 'idn-email', examples: ['ada@example.com'] });
