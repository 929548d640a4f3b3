import { env } from 'cloudflare:workers';
import { vi } from 'vitest';

/** Returns what `work` returns, and the statements that it prepared for D1. */
export const recordStatements = async <T>(work: () => Promise<T>) => {
  const prepare = vi.spyOn(Object.getPrototypeOf(env.DB) as D1Database, 'prepare');
  try {
    return { result: await work(), statements: prepare.mock.calls.map(([statement]) => statement) };
  } finally {
    prepare.mockRestore();
  }
};

/** Returns how many queries D1 counts for the call that does `work`, which leaves out those of the objects that it calls. */
export const countQueries = async (
  work: (environment: Env) => Promise<unknown>,
  environment: Env = env,
): Promise<number> => {
  let queries = 0;
  const counting = (d1: D1Database) =>
    new Proxy(d1, {
      get: (target, name) => {
        if (name === 'prepare') queries++;
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  const databases = { DB: counting(env.DB), DB2: counting(env.DB2) };
  await work({ ...environment, ...databases });
  return queries;
};

/** Returns how many rows D1 read for the statements of `work`, which must not change anything. */
export const countRowsRead = async (work: () => Promise<unknown>): Promise<number> => {
  const bind = vi.spyOn(Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement, 'bind');
  try {
    await work();
    const results = await Promise.all(
      bind.mock.results.map(async ({ value }) => (value as D1PreparedStatement).all()),
    );
    return results.reduce((sum, { meta }) => sum + meta.rows_read, 0);
  } finally {
    bind.mockRestore();
  }
};

/** Returns how many rows D1 read for the batches of `work`, which may change something. */
export const countRowsOfBatches = async (work: () => Promise<unknown>): Promise<number> => {
  const batch = vi.spyOn(Object.getPrototypeOf(env.DB) as D1Database, 'batch');
  try {
    await work();
    const results = await Promise.all(batch.mock.results.map(({ value }) => value as Promise<D1Result[]>));
    return results.flat().reduce((sum, { meta }) => sum + meta.rows_read, 0);
  } finally {
    batch.mockRestore();
  }
};

/** Returns how many rows each statement of `work`’s batches wrote, by its beginning, such as `update "licenses"`. */
export const countRowsWritten = async (work: () => Promise<unknown>): Promise<Record<string, number>> => {
  const prototype = Object.getPrototypeOf(env.DB) as D1Database;
  const prepare = vi.spyOn(prototype, 'prepare');
  const bind = vi.spyOn(Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement, 'bind');
  const batch = vi.spyOn(prototype, 'batch');
  const texts = () => {
    const texts = new Map<unknown, string>();
    prepare.mock.calls.forEach(([text], i) => texts.set(prepare.mock.results[i]?.value, text));
    bind.mock.instances.forEach((statement, i) =>
      texts.set(bind.mock.results[i]?.value, texts.get(statement) ?? ''),
    );
    return texts;
  };
  try {
    await work();
    const textOf = texts();
    const written: Record<string, number> = {};
    for (const [i, [statements]] of batch.mock.calls.entries()) {
      const results = (await batch.mock.results[i]?.value) as D1Result[];
      for (const [j, { meta }] of results.entries()) {
        const name = /^\s*(?:insert into|update|delete from|select) "?\w*"?/i.exec(
          textOf.get(statements[j]) ?? '',
        );
        if (meta.rows_written > 0)
          written[name?.[0] ?? ''] = (written[name?.[0] ?? ''] ?? 0) + meta.rows_written;
      }
    }
    return written;
  } finally {
    for (const spy of [prepare, bind, batch]) spy.mockRestore();
  }
};

type Batch = (this: D1Database, statements: D1PreparedStatement[]) => Promise<D1Result[]>;

/** Runs the first of the next batches with such a statement by `run`. Returns whether that has happened. */
const replaceBatch = (pattern: RegExp, run: (commit: () => Promise<D1Result[]>) => Promise<D1Result[]>) => {
  const prototype = Object.getPrototypeOf(env.DB) as D1Database;
  const batch = Reflect.get(prototype, 'batch') as Batch;
  const isMeant = (statement: unknown) => pattern.test(String(Reflect.get(Object(statement), 'statement')));
  let hasHappened = false;
  const spy = vi.spyOn(prototype, 'batch').mockImplementation(async function (this: D1Database, statements) {
    // Batches of other work run meanwhile.
    if (hasHappened || !statements.some(isMeant)) return batch.call(this, statements);
    hasHappened = true;
    spy.mockRestore();
    return run(() => batch.call(this, statements));
  });
  return () => hasHappened;
};

/** Calls `then` with the results of the first of the next batches with such a statement. Returns whether that has happened. */
const interceptBatch = (pattern: RegExp, then: (results: D1Result[]) => Promise<D1Result[]>) =>
  replaceBatch(pattern, async (commit) => then(await commit()));

/** Commits the first of the next batches with this statement, and loses its answer. Returns whether that has happened. */
export const loseAnswerOf = (beginning: string) =>
  interceptBatch(new RegExp(`^${RegExp.escape(beginning)}`), () => {
    throw new Error('D1_ERROR: Network connection lost.');
  });

/** Does something else between the first of the next batches with such a statement and what its caller does with the results. */
export const doMeanwhile = (pattern: RegExp, work: () => Promise<unknown>) =>
  interceptBatch(pattern, async (results) => {
    await work();
    return results;
  });

/** Does something else just before the first of the next batches with such a statement. */
export const doBefore = (pattern: RegExp, work: () => Promise<unknown>) =>
  replaceBatch(pattern, async (commit) => {
    await work();
    return commit();
  });
