import type { Journal } from '../shared/objects/journal.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { firstIdAt } from '../shared/text/ids.ts';

/** An Idempotency-Key is claimed for a day, and the call that claims it may take some time. */
const KEEP_MS = 2 * DAY_MS;

/** The ids that name changes: of the audit entry, or of the endpoint that is made. */
const NAMES = ['aud', 'whe'] as const;

/** Makes changes once for the id of an Idempotency-Key: a repeat gets the result of the first one. */
export const openMadeOnce = (sql: SqlStorage, journal: Pick<Journal, 'write'>) => {
  const find = (id: string | null): { result: unknown } | null => {
    const [row] = id === null ? [] : sql.exec<{ result: string }>('SELECT result FROM made WHERE id = ?', id);
    return row ? { result: JSON.parse(row.result) } : null;
  };

  const remember = (id: string, result: unknown) => {
    for (const name of NAMES)
      sql.exec('DELETE FROM made WHERE id BETWEEN ? AND ?', name, firstIdAt(name, Date.now() - KEEP_MS));
    sql.exec('INSERT INTO made (id, result) VALUES (?, ?)', id, JSON.stringify(result));
  };

  return {
    find,
    /** Makes a change, all or nothing. If it returns null, it was refused and can be tried again. */
    run: <T>(id: string | null, change: () => T): T =>
      journal.write(() => {
        const earlier = find(id);
        if (earlier) return earlier.result as T;
        const result = change();
        if (id !== null && result !== null) remember(id, result);
        return result;
      }),
  };
};
