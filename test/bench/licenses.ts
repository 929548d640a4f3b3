// Inserts the licenses of a big account into D1 in batches, with the triggers of the schema enabled.
import type { Miniflare } from 'miniflare';
import { randomBase62, sortableBase62 } from '../../src/shared/crypto/random.ts';
import { addDays, isoDate } from '../../src/shared/rules/dates.ts';
import { generateLicenseKey } from '../../src/shared/rules/license-key.ts';
import { sharedValues, type Values } from './load/plan.ts';

const BATCH_ROWS = 2_000;
/** One row in this many is suspended, revoked or expired, in turn. */
const ONE_INACTIVE_IN = 16;

const PRODUCTS = ['Orrery', 'Sextant Pro', 'Astrolabe', 'Chronometer', 'Theodolite Studio', 'Planisphere'];
const FIRST_NAMES = [
  'Ada',
  'Grace',
  'Edsger',
  'Barbara',
  'Alan',
  'Radia',
  'Donald',
  'Frances',
  'Ken',
  'Margaret',
];
const LAST_NAMES = [
  'Lovelace',
  'Hopper',
  'Dijkstra',
  'Liskov',
  'Turing',
  'Perlman',
  'Knuth',
  'Allen',
  'Thompson',
];

const pick = (from: string[], index: number): string => from[index % from.length] ?? '';

const stateOf = (index: number, today: string) => {
  const yearOn = addDays(today, index % 365);
  if (index % ONE_INACTIVE_IN !== 0) {
    return { status: 'active', expiresAt: index % 2 === 0 ? null : yearOn };
  }
  const kind = (index / ONE_INACTIVE_IN) % 3;
  if (kind === 0) return { status: 'suspended', expiresAt: null };
  if (kind === 1) return { status: 'revoked', expiresAt: null };
  return { status: 'active', expiresAt: addDays(today, -1 - (index % 365)) };
};

const rowOf = (index: number, createdAtMs: number, today: string) => {
  const first = pick(FIRST_NAMES, index);
  const last = pick(LAST_NAMES, Math.floor(index / FIRST_NAMES.length));
  const { status, expiresAt } = stateOf(index, today);
  return [
    `lic_${sortableBase62(createdAtMs, 8)}${randomBase62(12)}`,
    generateLicenseKey(),
    status,
    pick(PRODUCTS, Math.floor(index / 7)),
    `${first}.${last}.${index}@example.com`.toLowerCase(),
    `${first} ${last}`,
    expiresAt,
    createdAtMs,
  ] as const;
};

const INSERT = `INSERT INTO licenses
  (account_id, id, license_key, status, product, customer_email, customer_name, expires_at, metadata, created_at, updated_at)
  SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, '{}', value ->> 7, value ->> 7
  FROM json_each(?2)`;

export interface Inserted {
  /** The keys of the active licenses, oldest first. */
  active: Values;
  /** Customer email addresses of the most frequent length. */
  emails: Values;
  rows: number;
  seconds: number;
}

const mostFrequentLength = (texts: string[]): string[] => {
  const byLength = Object.values(Object.groupBy(texts, ({ length }) => length)).map((group = []) => group);
  return byLength.reduce((most, group) => (group.length > most.length ? group : most), []);
};

/** Inserts rows until the account has `activeCount` active licenses. */
export const insertLicenses = async (
  miniflare: Miniflare,
  accountId: string,
  activeCount: number,
): Promise<Inserted> => {
  const database = await miniflare.getD1Database('DB');
  const statement = database.prepare(INSERT);
  const startMs = performance.now();
  const today = isoDate(Date.now());
  const rows = Math.ceil((activeCount * ONE_INACTIVE_IN) / (ONE_INACTIVE_IN - 1)) + 1;
  // One license per second, ending now.
  const firstMs = Date.now() - rows * 1_000;
  const active: string[] = [];
  const emails: string[] = [];
  for (let from = 0; from < rows; from += BATCH_ROWS) {
    const batch = Array.from({ length: Math.min(BATCH_ROWS, rows - from) }, (_, i) =>
      rowOf(from + i, firstMs + (from + i) * 1_000, today),
    );
    await statement.bind(accountId, JSON.stringify(batch)).run();
    batch.forEach((row, i) => {
      emails.push(row[4]);
      if ((from + i) % ONE_INACTIVE_IN !== 0) active.push(row[1]);
    });
  }
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    active: sharedValues(active.slice(0, activeCount)),
    emails: sharedValues(mostFrequentLength(emails)),
    rows,
    seconds,
  };
};
