import { findMistake, type Found, type DatabasePlace } from '../shared/config/places.ts';
import { firstIdAt, newId } from '../shared/text/ids.ts';
import { logLine } from '../shared/text/log.ts';
import type { Bound } from './places.ts';

// Compares what the databases remember with DATABASES: once in each isolate, before its first query.

/** After a mistake was found, the databases are looked at again so much later. */
const RETRY_MS = 10_000;

/** The place of the others doesn't follow from their id. */
const IS_NATIVE = `id > '' AND id NOT IN (SELECT id FROM moved_accounts)`;

const READ = `SELECT
  (SELECT json_object('serviceId', service_id, 'binding', binding, 'places', json(places))
   FROM database_identity WHERE only = 1) AS identity,
  (SELECT id FROM accounts WHERE ${IS_NATIVE} ORDER BY id LIMIT 1) AS firstId,
  (SELECT id FROM accounts WHERE ${IS_NATIVE} ORDER BY id DESC LIMIT 1) AS lastId,
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
export const untilChecked = (text: string, databases: readonly Bound[]): Promise<void> | null => {
  let known = checks.get(text);
  if (known?.isPassed) return null;
  if (!known || Date.now() >= known.retryAtMs) checks.set(text, (known = startCheck(databases)));
  return known.result;
};
