import { openScrubber } from '../../shared/text/scrub.ts';

const NAMED = `EXISTS (
  SELECT 1 FROM json_each(?)
  WHERE instr(lower(customer_email || ' ' || coalesce(product, '') || ' ' || terms), value))`;
const IS_ORPHAN = "license_key IN (SELECT ref FROM orphans WHERE kind = 'license')";

/**
 * Takes erased customers out of licenses of which D1 knows nothing anymore, also in the next tables. Until these take their place,
 * any current license may turn out to be one: what D1 has is without the customer by now. Returns whether there were any.
 */
export const eraseFromOrphans = (sql: SqlStorage, emails: string[], hasNext: boolean): boolean => {
  const scrubbers = emails.map((email) => openScrubber({ email, names: [] }).scrub);
  const scrub = <T>(value: T): T => scrubbers.reduce((scrubbed, next) => next(scrubbed), value);

  const eraseFrom = (table: string, which: string): boolean => {
    const named = sql
      .exec<{ key: string; email: string; product: string | null; terms: string }>(
        `SELECT license_key AS key, customer_email AS email, product, terms FROM ${table} WHERE ${which} AND ${NAMED}`,
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
    return named.length > 0;
  };

  if (emails.length === 0) return false;
  if (!hasNext) return eraseFrom('licenses', IS_ORPHAN);
  const areInNext = eraseFrom('licenses_next', IS_ORPHAN);
  return eraseFrom('licenses', 'true') || areInNext;
};
