import { openScrubber } from '../../shared/text/scrub.ts';
import type { TracedLicense } from '../rules/rows.ts';

const NAMED = `EXISTS (
  SELECT 1 FROM json_each(?)
  WHERE instr(lower(customer_email || ' ' || coalesce(product, '') || ' ' || terms), value))`;
const IS_ORPHAN = "license_key IN (SELECT ref FROM orphans WHERE kind = 'license')";

type NamedRow = { key: string; id: string; email: string; product: string | null; terms: string };

/**
 * Takes erased customers out of licenses of which D1 knows nothing anymore, also in the next tables. Until these take their place,
 * any current license may turn out to be one: what D1 has is without the customer by now. Returns those that have named one.
 */
export const eraseFromOrphans = (
  sql: SqlStorage,
  emails: string[],
  hasNext: boolean,
  nowMs: number,
): TracedLicense[] => {
  const scrubbers = emails.map((email) => openScrubber({ email, names: [] }).scrub);
  const scrub = <T>(value: T): T => scrubbers.reduce((scrubbed, next) => next(scrubbed), value);
  const isErased = (email: string) => emails.includes(email.toLowerCase());

  const eraseFrom = (table: string, which: string) => {
    const named = sql
      .exec<NamedRow>(
        `SELECT license_key AS key, id, customer_email AS email, product, terms FROM ${table} WHERE ${which} AND ${NAMED}`,
        JSON.stringify(emails),
      )
      .toArray();
    for (const { key, email, product, terms } of named)
      sql.exec(
        `UPDATE ${table} SET customer_email = ?, product = ?, terms = ? WHERE license_key = ?`,
        scrub(email),
        scrub(product),
        JSON.stringify(scrub(JSON.parse(terms))),
        key,
      );
    return named.map(({ id, email }): [string, number] => [id, isErased(email) ? nowMs : 0]);
  };

  if (emails.length === 0) return [];
  const inNext = hasNext ? eraseFrom('licenses_next', IS_ORPHAN) : [];
  const found = eraseFrom('licenses', hasNext ? 'true' : IS_ORPHAN);
  return Array.from(new Map([...inNext, ...found]), ([licenseId, untilMs]) => ({ licenseId, untilMs }));
};
