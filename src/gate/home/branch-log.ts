import type { ChangedRef, Feed } from '../rules/messages.ts';

// The log of what has changed for branches. Only the last change of a row matters, so each row is in it once, however often it
// has changed. The row of the kind `all` is where the log begins: what was before it is forgotten.

/** With more rows, the log forgets the earlier half. */
const LOG_LENGTH = 1_000;

/** One string for a row. Kinds have no spaces. */
const nameOf = ({ kind, ref }: ChangedRef) => `${kind} ${ref}`;

type LogRow = { revision: number; kind: ChangedRef['kind'] | 'all'; ref: string };
type LoggedRef = ChangedRef & { revision: number };

export const openBranchLog = (sql: SqlStorage) => {
  let begin = 0;
  /** The logged rows by their names, in the order of their revisions. */
  const logged = new Map<string, LoggedRef>();
  const stored = sql.exec<LogRow>('SELECT revision, kind, ref FROM branch_log ORDER BY revision');
  for (const { revision, kind, ref } of stored) {
    if (kind === 'all') begin = revision;
    else logged.set(nameOf({ kind, ref }), { revision, kind, ref });
  }

  const insert = ({ revision, kind, ref }: LogRow) =>
    sql.exec('INSERT INTO branch_log (revision, kind, ref) VALUES (?, ?, ?)', revision, kind, ref);

  /** Forgets the changes through a revision. Branches that haven't applied them drop their copy. */
  const forgetThrough = (revision: number) => {
    sql.exec('DELETE FROM branch_log WHERE revision <= ?', revision);
    for (const [name, row] of logged) if (row.revision <= revision) logged.delete(name);
    insert({ revision, kind: 'all', ref: '' });
    begin = revision;
  };

  return {
    forgetThrough,

    /** Adds a change, as part of the current transaction. */
    add: (change: ChangedRef, revision: number) => {
      const name = nameOf(change);
      const before = logged.get(name);
      if (before) {
        sql.exec('DELETE FROM branch_log WHERE revision = ?', before.revision);
        logged.delete(name);
      }
      const row = { ...change, revision };
      insert(row);
      logged.set(name, row);
      if (logged.size <= LOG_LENGTH) return;
      const middle = [...logged.values()][LOG_LENGTH / 2];
      if (middle) forgetThrough(middle.revision);
    },

    clear: () => {
      sql.exec('DELETE FROM branch_log');
      logged.clear();
      begin = 0;
    },

    /** Returns the changes after a revision. `through` is the last revision. */
    feedAfter: (after: number, through: number): Feed<ChangedRef> => {
      const isReset = after < begin;
      const changed = isReset ? [] : [...logged.values()].filter(({ revision }) => revision > after);
      return { after, through, isReset, rows: changed.map(({ kind, ref }) => ({ kind, ref })) };
    },
  };
};
