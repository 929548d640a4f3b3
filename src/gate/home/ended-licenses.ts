import type { CopiedLicense } from '../rules/rows.ts';

// A license that D1 has lost ends without a row of the feed that tells so: when its time is over, when D1 is taken to be right, or
// when another license gets its key. It has ended if no copy has its id under any key, and D1 doesn't have it either.

const IS_IN_NEXT = `EXISTS (
  SELECT 1 FROM licenses_next AS next WHERE next.license_key = licenses.license_key AND next.id = licenses.id)`;

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

/** Returns the ids of licenses that the next tables lack. `inD1` are those that D1 has, and the gate knows better. */
export const missingInNext = (sql: SqlStorage, inD1: string[]): string[] =>
  // In this order, ids are looked for only if a key is missing.
  idsOf(
    sql.exec<Id>(
      `SELECT DISTINCT id FROM licenses WHERE CASE WHEN ${IS_IN_NEXT} THEN 0 ELSE
         id NOT IN (SELECT id FROM licenses_next) AND id NOT IN (SELECT value FROM json_each(?)) END`,
      JSON.stringify(inD1),
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

/** Returns the ids that the tables have under no key. */
export const withoutKey = (sql: SqlStorage, ids: string[], hasNext: boolean): string[] => {
  if (ids.length === 0) return [];
  const tables = hasNext ? ['licenses', 'licenses_next'] : ['licenses'];
  const isIn = tables.map((table) => `value IN (SELECT id FROM ${table})`).join(' OR ');
  return idsOf(sql.exec<Id>(`SELECT value AS id FROM json_each(?) WHERE NOT (${isIn})`, JSON.stringify(ids)));
};
