import { untilChecked } from './identity.ts';
import type { Bound } from './places.ts';

// A database as drizzle uses it. No query reaches one before the check of DATABASES. A statement is prepared when it runs, in the
// database that it belongs in by then, and what it writes is fenced: an account that moves, or has moved, is written nowhere else.

/** Where a statement runs. */
interface Target {
  d1: D1Database;
  /** The account whose move refuses a write, or `ANY`. Null if none does. */
  fencedBy: string | null;
}

/** A write is refused while any account moves into the database, or out of it. */
export const ANY = 'any';

type Resolve = () => Target | Promise<Target>;

/** The column refuses the null, so the batch of the fence changes nothing. It is part of each write: no clock decides. */
const FENCE = `UPDATE moved_accounts SET id = NULL WHERE id = ? AND state <> 'guest'`;
const FENCE_OF_ANY = `UPDATE moved_accounts SET id = NULL WHERE state IN ('leaving', 'arriving')`;

const isRead = (query: string) =>
  /^\s*(?:select|with)\b/i.test(query) && !/\b(?:insert\s+into|update|delete\s+from)\s/i.test(query);

const fenceIn = ({ d1, fencedBy }: Target, queries: string[]): D1PreparedStatement[] => {
  if (fencedBy === null || queries.every(isRead)) return [];
  return [fencedBy === ANY ? d1.prepare(FENCE_OF_ANY) : d1.prepare(FENCE).bind(fencedBy)];
};

/** The part of a statement that drizzle uses. */
class GuardedStatement {
  readonly #resolve: Resolve;
  readonly #values: unknown[];
  readonly query: string;

  constructor(resolve: Resolve, query: string, values: unknown[] = []) {
    this.#resolve = resolve;
    this.query = query;
    this.#values = values;
  }

  bind(...values: unknown[]) {
    return new GuardedStatement(this.#resolve, this.query, values);
  }

  prepareIn(d1: D1Database): D1PreparedStatement {
    return d1.prepare(this.query).bind(...this.#values);
  }

  /** Runs the statement behind its fence. Returns null if it needs none. */
  async #runFenced(target: Target): Promise<D1Result | null> {
    const fence = fenceIn(target, [this.query]);
    if (fence.length === 0) return null;
    const [, result] = await target.d1.batch([...fence, this.prepareIn(target.d1)]);
    return result ?? null;
  }

  async run() {
    const target = await this.#resolve();
    return (await this.#runFenced(target)) ?? this.prepareIn(target.d1).run();
  }

  async all() {
    const target = await this.#resolve();
    return (await this.#runFenced(target)) ?? this.prepareIn(target.d1).all();
  }

  async raw() {
    const target = await this.#resolve();
    const fenced = await this.#runFenced(target);
    // A write returns columns of one table, whose names differ.
    return fenced
      ? fenced.results.map((row) => Object.values(row as object))
      : this.prepareIn(target.d1).raw();
  }
}

/** Returns a database whose statements `resolve` places. `text` is the value of DATABASES. */
export const guarded = (text: string, databases: readonly Bound[], place: Resolve): D1Database => {
  const resolve = async () => {
    await untilChecked(text, databases);
    return place();
  };
  const database = {
    prepare: (query: string) => new GuardedStatement(resolve, query),
    batch: async (statements: GuardedStatement[]) => {
      const target = await resolve();
      const fence = fenceIn(
        target,
        statements.map(({ query }) => query),
      );
      const prepared = statements.map((statement) => statement.prepareIn(target.d1));
      return (await target.d1.batch([...fence, ...prepared])).slice(fence.length);
    },
  };
  return database as unknown as D1Database;
};
