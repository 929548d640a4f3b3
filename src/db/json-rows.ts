import { type SQL, sql } from 'drizzle-orm';

/** D1 accepts values of up to 2 MB. A character has at most three bytes in UTF-8, and most have one. */
const MAX_CHUNK_LENGTH = 600_000;

/** Returns rows as JSON arrays for `json_each`, each of which is small enough for a statement. */
export const jsonChunks = (rows: readonly unknown[]): string[] => {
  const chunks: string[] = [];
  let chunk: string[] = [];
  let length = 0;
  const flush = () => {
    if (chunk.length > 0) chunks.push(`[${chunk.join(',')}]`);
    chunk = [];
    length = 0;
  };
  for (const row of rows) {
    const json = JSON.stringify(row);
    if (length + json.length > MAX_CHUNK_LENGTH) flush();
    chunk.push(json);
    length += json.length + 1;
  }
  flush();
  return chunks;
};

/** Returns the values of a row that `json_each` reads, by name. */
export const jsonValues = <Name extends string>(...names: Name[]): Record<Name, SQL> =>
  Object.fromEntries(names.map((name) => [name, sql.raw(`value ->> '${name}'`)])) as Record<Name, SQL>;

/** A condition that a column has one of the values, however many they are: D1 binds at most a hundred. */
export const inJson = (values: Iterable<string | number>): SQL =>
  sql`IN (SELECT value FROM json_each(${JSON.stringify([...values])}))`;
