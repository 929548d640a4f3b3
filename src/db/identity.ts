import type { DatabaseEntry } from '../shared/config/databases.ts';
import { findMistake, type Found, type DatabasePlace } from '../shared/config/places.ts';
import { firstIdAt, newId } from '../shared/text/ids.ts';
import { logLine } from '../shared/text/log.ts';

// Compares what the databases remember with DATABASES: once in each isolate, before its first query.

/** A database with its binding, past the check. */
export interface Bound extends DatabaseEntry {
  d1: D1Database;
}

/** After a mistake was found, the databases are looked at again so much later. */
const RETRY_MS = 10_000;

const READ = `SELECT
  (SELECT json_object('serviceId', service_id, 'binding', binding, 'places', json(places))
   FROM database_identity WHERE only = 1) AS identity,
  (SELECT min(id) FROM accounts) AS firstId, (SELECT max(id) FROM accounts) AS lastId,
  (SELECT min(account_id) FROM users) AS firstUser`;

const WRITE = `INSERT INTO database_identity (only, service_id, binding, places) VALUES (1, ?, ?, ?)
  ON CONFLICT DO UPDATE SET places = excluded.places RETURNING service_id AS serviceId`;

export const readIdentity = async ({ d1 }: Bound): Promise<Found> => {
  const { results, meta } = await d1.prepare(READ).all<{
    identity: string | null;
    firstId: string | null;
    lastId: string | null;
    firstUser: string | null;
  }>();
  const { identity = null, firstId = null, lastId = null, firstUser = null } = results[0] ?? {};
  return {
    identity: identity === null ? null : (JSON.parse(identity) as Found['identity']),
    firstId,
    lastId,
    hasUsers: firstUser !== null,
    sizeBytes: meta.size_after,
  };
};

export const mistakeIn = (databases: readonly Bound[], found: readonly Found[]): string | null =>
  findMistake(databases, found, firstIdAt('acct', Date.now()));

/** Lets the databases remember who they are. Of two isolates that do so at once, the first one names the service. */
const claim = async (databases: readonly Bound[], found: readonly Found[]): Promise<void> => {
  const places = databases.map(({ binding, firstAccountId }): DatabasePlace => ({ binding, firstAccountId }));
  const text = JSON.stringify(places);
  let serviceId = found.find(({ identity }) => identity)?.identity?.serviceId ?? newId('svc');
  for (const [i, { binding, d1 }] of databases.entries()) {
    if (JSON.stringify(found[i]?.identity?.places) === text) continue;
    const write = d1.prepare(WRITE).bind(serviceId, binding, text);
    const { results } = await write.all<{ serviceId: string }>();
    serviceId = results[0]?.serviceId ?? serviceId;
  }
};

const check = async (databases: readonly Bound[]): Promise<void> => {
  const found = await Promise.all(databases.map(readIdentity));
  const mistake = mistakeIn(databases, found);
  if (mistake === null) return claim(databases, found);
  logLine('error', { event: 'databases_refused', reason: mistake });
  // By its beginning, callers see that D1 can't be used, also across a call to an object.
  throw new Error(`D1_REFUSED: ${mistake}`);
};

interface Check {
  isPassed: boolean;
  result: Promise<void>;
  /** A failed check isn't repeated before. */
  retryAtMs: number;
}

const checks = new Map<string, Check>();

const startCheck = (databases: readonly Bound[]): Check => {
  const started: Check = { isPassed: false, result: check(databases), retryAtMs: Infinity };
  started.result.then(
    () => (started.isPassed = true),
    (error: Error) =>
      (started.retryAtMs = error.message.startsWith('D1_REFUSED') ? Date.now() + RETRY_MS : 0),
  );
  return started;
};

/** Returns null if the databases are those that `text` means, the value of DATABASES. Otherwise waits until that is known. */
const untilChecked = (text: string, databases: readonly Bound[]): Promise<void> | null => {
  let known = checks.get(text);
  if (known?.isPassed) return null;
  if (!known || Date.now() >= known.retryAtMs) checks.set(text, (known = startCheck(databases)));
  return known.result;
};

type Guard = () => Promise<void> | null;

/** The part of a statement that drizzle uses. */
class GuardedStatement {
  readonly #guard: Guard;
  readonly inner: D1PreparedStatement;

  constructor(guard: Guard, inner: D1PreparedStatement) {
    this.#guard = guard;
    this.inner = inner;
  }

  bind(...values: unknown[]) {
    return new GuardedStatement(this.#guard, this.inner.bind(...values));
  }

  async run() {
    await this.#guard();
    return this.inner.run();
  }

  async all() {
    await this.#guard();
    return this.inner.all();
  }

  async raw() {
    await this.#guard();
    return this.inner.raw();
  }
}

/** Returns the database as drizzle uses it. No query reaches it before the check, nor after one that has failed. */
export const guarded = (text: string, databases: readonly Bound[], d1: D1Database): D1Database => {
  const guard = () => untilChecked(text, databases);
  const database = {
    prepare: (query: string) => new GuardedStatement(guard, d1.prepare(query)),
    batch: async (statements: GuardedStatement[]) => {
      await guard();
      return d1.batch(statements.map(({ inner }) => inner));
    },
  };
  return database as unknown as D1Database;
};
