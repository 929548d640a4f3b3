import { desc, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { accountDatabases, type NamedDatabase } from '../db/client.ts';
import { licenseTotals, objectStates } from '../db/schema.ts';
import { logError } from '../shared/text/log.ts';

type Labels = Record<string, string | number>;
interface Sample {
  suffix?: string;
  labels: Labels;
  value: number;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const escape = (text: string) => text.replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? character);

const renderLabels = (labels: Labels) => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

export const render = (
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: Sample[],
) => [
  `# HELP latchkey_${name} ${help}`,
  `# TYPE latchkey_${name} ${type}`,
  ...samples.map(
    ({ suffix = '', labels, value }) => `latchkey_${name}${suffix}${renderLabels(labels)} ${value}`,
  ),
];

export interface RequestCounts {
  requests: { method: string; route: string; status: number; code: string; count: number }[];
  verifies: { bounds: number[]; buckets: number[]; count: number; sumMs: number };
}

const renderRequests = ({ requests, verifies }: RequestCounts) => {
  let below = 0;
  const buckets = verifies.bounds.map((bound, i) => {
    below += verifies.buckets[i] ?? 0;
    return { suffix: '_bucket', labels: { le: bound / 1_000 }, value: below };
  });
  return [
    ...render(
      'requests_total',
      'counter',
      'Requests by route and outcome. Counts the isolate that answered this scrape, since it started.',
      requests.map(({ count, ...labels }) => ({ labels, value: count })),
    ),
    ...render(
      'verify_duration_seconds',
      'histogram',
      'Time in the Worker of answered verifies. Counts the isolate that answered this scrape, since it started.',
      [
        ...buckets,
        { suffix: '_bucket', labels: { le: '+Inf' }, value: verifies.count },
        { suffix: '_sum', labels: {}, value: verifies.sumMs / 1_000 },
        { suffix: '_count', labels: {}, value: verifies.count },
      ],
    ),
  ];
};

const sumOf = (column: SQLiteColumn) => sql<number>`coalesce(sum(${column}), 0)`;

const LARGEST = 10;

/** Seconds since a time, or 0 if there is none, or it is yet to come. */
const secondsSince = (ms: number | null) => (ms === null ? 0 : Math.max(0, Date.now() - ms) / 1_000);

interface DatabaseState {
  loading: number;
  waiting: number;
  failing: number;
  orphans: number;
  stored: number;
  customerDueMs: number | null;
  accountDueMs: number | null;
}

/** Returns what a database tells about the whole service, or null if it can't be reached. */
const readDatabase = async ({ binding, db }: NamedDatabase) => {
  try {
    const [state, largest] = await db.batch([
      db.run(sql`SELECT ${sumOf(objectStates.loading)} AS loading, ${sumOf(objectStates.waiting)} AS waiting,
        ${sumOf(objectStates.failingEndpoints)} AS failing, ${sumOf(objectStates.orphans)} AS orphans,
        (SELECT coalesce(sum(bytes), 0) FROM license_totals) AS stored,
        (SELECT min(created_at) FROM erasures) AS customerDueMs,
        (SELECT min(due) FROM (
          SELECT min(erase_at) AS due FROM accounts WHERE erase_at IS NOT NULL
          UNION ALL SELECT min(user_due_at) FROM accounts WHERE user_due_at IS NOT NULL
        )) AS accountDueMs
        FROM object_states`),
      db
        .select({ account: licenseTotals.accountId, bytes: sql<number>`coalesce(bytes, 0) + machine_bytes` })
        .from(licenseTotals)
        .orderBy(desc(sql`coalesce(bytes, 0) + machine_bytes`))
        .limit(LARGEST),
    ]);
    const [row] = state.results as unknown as [DatabaseState];
    return { binding, size: state.meta.size_after, ...row, largest };
  } catch (error) {
    logError('metrics_database_failed', error, { database: binding });
    const nothing = { loading: 0, waiting: 0, failing: 0, orphans: 0, stored: 0 };
    const none = { ...nothing, customerDueMs: null, accountDueMs: null };
    return { binding, size: null, ...none, largest: [] };
  }
};

/** Returns the metrics in the text format of Prometheus. */
export const renderMetrics = async (env: Env, requests: RequestCounts): Promise<string> => {
  const databases = await Promise.all(accountDatabases(env).map(readDatabase));
  const reached = databases.filter(({ size }) => size !== null);
  const byDatabase = (value: (database: (typeof databases)[number]) => number) =>
    reached.map((database) => ({ labels: { database: database.binding }, value: value(database) }));
  const lines = [
    ...renderRequests(requests),
    ...render(
      'd1_up',
      'gauge',
      'Whether the D1 database has answered this scrape.',
      databases.map(({ binding, size }) => ({ labels: { database: binding }, value: size === null ? 0 : 1 })),
    ),
    ...render(
      'd1_size_bytes',
      'gauge',
      'Size of the D1 database.',
      byDatabase(({ size }) => size ?? 0),
    ),
    ...render(
      'stored_bytes',
      'gauge',
      'What all accounts of the D1 database store, with indexes.',
      byDatabase(({ stored }) => stored),
    ),
    ...render(
      'account_stored_bytes',
      'gauge',
      'What the ten accounts store that store the most.',
      databases
        .flatMap(({ largest }) => largest)
        .toSorted((a, b) => b.bytes - a.bytes)
        .slice(0, LARGEST)
        .map(({ account, bytes }) => ({ labels: { account }, value: bytes })),
    ),
    ...render(
      'gates_loading',
      'gauge',
      'Gates of all accounts that load their copy in the background, as of their last alarm.',
      byDatabase(({ loading }) => loading),
    ),
    ...render(
      'gate_orphans',
      'gauge',
      'Licenses, API keys, and products that the gates of all accounts keep although a restored D1 has lost them.',
      byDatabase(({ orphans }) => orphans),
    ),
    ...render(
      'outbox_deliveries_waiting',
      'gauge',
      'Webhook deliveries of all accounts that wait for a retry, or over a minute for their first attempt, as of each outbox’s last alarm, a day ago at most.',
      byDatabase(({ waiting }) => waiting),
    ),
    ...render(
      'endpoints_failing',
      'gauge',
      'Webhook endpoints of all accounts whose last attempts failed, as of each outbox’s last alarm, a day ago at most.',
      byDatabase(({ failing }) => failing),
    ),
    ...render(
      'erasure_overdue_seconds',
      'gauge',
      'For how long the oldest erasure that is due has not been finished, of customers and licenses, and of accounts.',
      reached.flatMap(({ binding, customerDueMs, accountDueMs }) => [
        { labels: { database: binding, of: 'customer' }, value: secondsSince(customerDueMs) },
        { labels: { database: binding, of: 'account' }, value: secondsSince(accountDueMs) },
      ]),
    ),
  ];
  return `${lines.join('\n')}\n`;
};
