import { openScrubber } from '../../shared/text/scrub.ts';
import type { CopiedLicense, TracedLicense } from '../rules/rows.ts';
import type { Progress } from './progress.ts';

// A license that D1 has lost ends without a row of the feed that tells so: when its time is over, when D1 is taken to be right, when
// another license gets its key, or when a service is restored whose backup has no more of it than its machines. It has ended if no
// copy has its id under any key, and D1 doesn't have it either, which only a load can tell.

const IS_IN_NEXT = `EXISTS (
  SELECT 1 FROM licenses_next AS next WHERE next.license_key = licenses.license_key AND next.id = licenses.id)`;

/** Licenses that end at once. */
export const MAX_ENDED = 1_000;
/** What `Machines.eraseLicenses` deletes. Most licenses have nothing of it, and those that have ended are left to it. */
const MACHINES = ['activations', 'seat_changes', 'seat_refusals'];
const HAS_MACHINES = MACHINES.map(
  (table) => `EXISTS (SELECT 1 FROM ${table} WHERE license_id = ended.id)`,
).join(' OR ');
/** Reads all machines. Only a restored gate has some whose license no copy has ever had. */
const WITH_MACHINES = MACHINES.map((table) => `SELECT license_id AS id FROM ${table}`).join(' UNION ');

/** Whether the next tables lack any license between two keys. They may have it under another key. */
export const isAnyMissing = (sql: SqlStorage, after: string, through: string): boolean =>
  sql
    .exec(
      `SELECT 1 FROM licenses WHERE license_key > ? AND license_key <= ? AND NOT ${IS_IN_NEXT} LIMIT 1`,
      after,
      through,
    )
    .toArray().length > 0;

type Id = { id: string };
const idsOf = (rows: SqlStorageCursor<Id>) => rows.toArray().map(({ id }) => id);

/**
 * Returns the ids of some licenses that the next tables lack, and that have machines. `replaced` are those whose keys others have,
 * `inD1` those that D1 has, and the gate knows better.
 */
export const missingInNext = (
  sql: SqlStorage,
  { replaced, isRestored }: Pick<Progress, 'replaced' | 'isRestored'>,
  inD1: string[],
): string[] =>
  idsOf(
    sql.exec<Id>(
      `SELECT id FROM (
         SELECT id FROM licenses WHERE NOT ${IS_IN_NEXT} UNION SELECT value FROM json_each(?)
         ${isRestored ? `UNION ${WITH_MACHINES}` : ''}
       ) AS ended
       WHERE (${HAS_MACHINES}) AND id NOT IN (SELECT license_id FROM ended_licenses)
         AND id NOT IN (SELECT id FROM licenses_next) AND id NOT IN (SELECT value FROM json_each(?))
       LIMIT ${MAX_ENDED}`,
      JSON.stringify(replaced?.ids ?? []),
      JSON.stringify(inD1),
    ),
  );

/** Returns the ids of some licenses that have machines, and that a copy lacks that was loaded for the first time. */
export const withMachinesAlone = (sql: SqlStorage): string[] =>
  idsOf(
    sql.exec<Id>(
      `SELECT id FROM (${WITH_MACHINES})
       WHERE id NOT IN (SELECT id FROM licenses) AND id NOT IN (SELECT license_id FROM ended_licenses)
       LIMIT ${MAX_ENDED}`,
    ),
  );

/** Returns the ids of other licenses that have the keys of these. Call it before these are written. */
export const replacedBy = (sql: SqlStorage, licenses: CopiedLicense[]): string[] =>
  idsOf(
    sql.exec<Id>(
      `SELECT licenses.id FROM json_each(?) AS new CROSS JOIN licenses ON license_key = new.value ->> 'licenseKey'
       WHERE licenses.id <> new.value ->> 'id'`,
      JSON.stringify(licenses.map(({ id, licenseKey }) => ({ id, licenseKey }))),
    ),
  );

/** Returns the ids that the copy has under no key. */
export const withoutKey = (sql: SqlStorage, ids: string[]): string[] =>
  ids.length === 0
    ? []
    : idsOf(
        sql.exec<Id>(
          'SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM licenses)',
          JSON.stringify(ids),
        ),
      );

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
