import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

const root = join(import.meta.dirname, '../../..');

export interface Query {
  query: string;
  bindings: SQLInputValue[];
}

let migrated: Uint8Array | null = null;

/** Returns an empty database with all tables, as bytes. */
const migrate = (): Uint8Array => {
  if (migrated) return migrated;
  const db = new DatabaseSync(':memory:');
  for (const file of globSync('drizzle/*.sql', { cwd: root }).toSorted())
    db.exec(readFileSync(join(root, file), 'utf8'));
  migrated = db.serialize();
  return migrated;
};

const toError = (error: unknown) => {
  const { message } = error as Error;
  return new Error(
    `D1_ERROR: ${message}: ${/constraint/i.test(message) ? 'SQLITE_CONSTRAINT' : 'SQLITE_ERROR'}`,
  );
};

/** The database that all processes share. It never loses anything, but its answers may be lost. */
export const openD1 = () => {
  const db = new DatabaseSync(':memory:');
  db.deserialize(migrate());

  const run = ({ query, bindings }: Query) => ({
    success: true,
    meta: {},
    results: db.prepare(query).all(...bindings),
  });

  const batch = (queries: Query[]) => {
    db.exec('BEGIN');
    try {
      const results = queries.map(run);
      db.exec('COMMIT');
      return results;
    } catch (error) {
      db.exec('ROLLBACK');
      throw toError(error);
    }
  };

  return {
    exec: (query: string) => db.exec(query),
    batch,
  };
};

export type D1Result = ReturnType<ReturnType<typeof openD1>['batch']>;

/** The binding of a process, which reaches the database by `send`. */
export const bindD1 = (send: (queries: Query[]) => Promise<D1Result>) => {
  const prepare = (query: string, bindings: SQLInputValue[] = []) => {
    const all = async () => (await send([{ query, bindings }]))[0];
    return {
      query,
      bindings,
      bind: (...values: SQLInputValue[]) => prepare(query, values),
      all,
      run: all,
      raw: async () => (await all())?.results.map((row) => Object.values(row)) ?? [],
    };
  };
  return {
    prepare,
    batch: (queries: Query[]) => send(queries.map(({ query, bindings }) => ({ query, bindings }))),
  };
};
