// What licenses that have ended leave behind: their machines and their histories. A license may have hundreds of thousands of rows,
// more than an object can delete at once, so the license is noted, and its rows go by the page. No call is answered with them.

export const ENDED_LICENSES = 'CREATE TABLE ended_licenses (license_id TEXT PRIMARY KEY) WITHOUT ROWID';

/** About how many rows are deleted at once: the last license's history is deleted as a whole. */
const ERASED_PAGE = 1_000;

/** Deletes rows of a license, and returns how many. */
interface Rows {
  eraseMachines: (licenseId: string, limit: number) => number;
  eraseHistory: (licenseId: string) => number;
}

export const openEndedLicenses = (sql: SqlStorage, { eraseMachines, eraseHistory }: Rows) => {
  const next = (limit: number): string[] =>
    sql
      .exec<{ id: string }>('SELECT license_id AS id FROM ended_licenses LIMIT ?', limit)
      .toArray()
      .map(({ id }) => id);
  let hasAny = next(1).length > 0;

  const forget = (licenseId: string) =>
    sql.exec('DELETE FROM ended_licenses WHERE license_id = ?', licenseId);

  /** Deletes the next rows. Licenses without any count as well. */
  const erasePage = () => {
    let left = ERASED_PAGE;
    for (const id of next(left)) {
      left -= eraseMachines(id, left);
      if (left <= 0) break;
      left -= eraseHistory(id) + 1;
      forget(id);
      if (left <= 0) break;
    }
    hasAny = next(1).length > 0;
  };

  return {
    hasAny: () => hasAny,
    erasePage,

    /** Notes licenses that have ended, and deletes their first rows. Most have no more. Call it in a transaction. */
    add: (licenseIds: string[]) => {
      if (licenseIds.length === 0) return;
      sql.exec(
        'INSERT OR IGNORE INTO ended_licenses SELECT value FROM json_each(?)',
        JSON.stringify(licenseIds),
      );
      erasePage();
    },

    /** Keeps what a license still has that gets a machine: it is back, because D1 was restored. */
    keep: (licenseId: string) => {
      if (hasAny) forget(licenseId);
    },
  };
};

export type EndedLicenses = ReturnType<typeof openEndedLicenses>;
