// `npm run test:move`: moves an account with 20,000 licenses to another database under load, there and back, and counts what was
// lost: calls, licenses that were answered, changes, and events. Nothing of the service's times is shortened.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkOut, newSecrets, writeSecrets } from '../e2e/support/checkout.ts';
import { cleanUp, type Service, startService } from '../e2e/support/service.ts';
import {
  addEndpoint,
  addKey,
  type CallCounts,
  countCall,
  type Customer,
  expectOk,
  signUp,
} from './customer.ts';
import { liftLimits } from './lifted-limits.ts';
import { openReceiver } from './receiver.ts';

const LICENSES = Number(process.env['MOVE_LICENSES'] ?? 20_000);
const TOKEN = 'only-for-this-run-0123456789-0123456789';
const OPERATOR = { authorization: `Bearer ${TOKEN}` };
const LINES_PER_IMPORT = 5_000;
const VERIFIERS = 4;
const CREATORS = 2;
/** Between two calls of one of them. */
const EVERY_MS = 50;
/** How long the last events may take. */
const EVENTS_MS = 120_000;

const started = Date.now();
const say = (text: string) => console.log(`${((Date.now() - started) / 1_000).toFixed(0)} s  ${text}`);

/** Gives the checkout a second database, to which no new account goes. */
const addDatabase = (checkout: string) => {
  const file = join(checkout, 'wrangler.toml');
  const second =
    '[[d1_databases]]\nbinding = "DB2"\ndatabase_name = "latchkey-2"\nmigrations_dir = "drizzle"\n\n';
  const source = readFileSync(file, 'utf8')
    .replace('DATABASES = "DB"', 'DATABASES = "DB, DB2@2999-01-01"')
    .replace('# Where backups go', `${second}# Where backups go`);
  writeFileSync(file, source);
  writeSecrets(checkout, { ...newSecrets(), OPERATOR_TOKEN: TOKEN });
};

const keyOf = (i: number) => `MOVED-${String(i).padStart(7, '0')}`;

const importLicenses = async (service: Service, { session }: Pick<Customer, 'session'>) => {
  for (let from = 0; from < LICENSES; from += LINES_PER_IMPORT) {
    const lines = Array.from({ length: Math.min(LINES_PER_IMPORT, LICENSES - from) }, (_, i) =>
      JSON.stringify({
        license_key: keyOf(from + i),
        customer_email: `customer-${from + i}@example.com`,
        metadata: { order: from + i },
      }),
    );
    const response = await fetch(`${service.origin}/api/v1/licenses/import`, {
      method: 'POST',
      headers: { ...session, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
    const text = await response.text();
    if (!text.includes(`"created":${lines.length}`))
      throw new Error(`The import answered ${text.slice(-300)}`);
  }
};

/** What the service has answered. */
interface Seen {
  calls: CallCounts;
  invalid: number;
  created: string[];
  changed: number;
  refused: number;
  longestMs: number;
}

const load = async (service: Service, customer: Customer, seen: Seen, isRunning: () => boolean) => {
  const timed = async <T>(call: () => Promise<T>): Promise<T> => {
    const fromMs = Date.now();
    const result = await call();
    seen.longestMs = Math.max(seen.longestMs, Date.now() - fromMs);
    return result;
  };
  const verifyOne = async () => {
    const input = { license_key: keyOf(Math.floor(Math.random() * LICENSES)) };
    const verify = () => service.post('/api/v1/licenses/verify', input, customer.apiKey);
    const { status, body } = await timed(() => countCall(seen.calls, verify));
    if (status !== 200 || !(body as { valid: boolean }).valid) seen.invalid++;
  };
  /** A caller repeats what was refused, with the same Idempotency-Key. */
  const untilMade = async (send: () => ReturnType<Service['post']>) => {
    for (;;) {
      const answer = await send();
      if (answer.status < 300) return answer.body;
      if (answer.status !== 503) throw new Error(`The service responded ${answer.status}: ${answer.text}`);
      seen.refused++;
      await delay(1_000);
    }
  };
  const createOne = async () => {
    const headers = { ...customer.session, 'idempotency-key': randomUUID() };
    const made = await untilMade(() => service.post('/api/v1/licenses/create', {}, headers));
    const { id, license_key } = made as { id: string; license_key: string };
    seen.created.push(license_key);
    await untilMade(() => service.post(`/api/v1/licenses/${id}/suspend`, {}, customer.session));
    seen.changed++;
  };
  const repeat = async (call: () => Promise<void>) => {
    while (isRunning()) await Promise.all([call(), delay(EVERY_MS)]);
  };
  await Promise.all([
    ...Array.from({ length: VERIFIERS }, () => repeat(verifyOne)),
    ...Array.from({ length: CREATORS }, () => repeat(createOne)),
  ]);
};

interface Moving {
  database: string;
  move: { step: string; rows: number } | null;
  last_move: {
    rows: number;
    started_at: string;
    ended_at: string;
    refused_for_seconds: number;
    problem: string | null;
  };
}

const move = async (service: Service, { accountId }: Customer, database: string): Promise<void> => {
  const path = `/operator/accounts/${accountId}/database`;
  let found = expectOk(await service.post(path, { database }, OPERATOR)) as Moving;
  while (found.move) {
    await delay(500);
    found = expectOk(await service.get(path, OPERATOR)) as Moving;
  }
  const { rows, started_at, ended_at, refused_for_seconds, problem } = found.last_move;
  if (found.database !== database) throw new Error(`The account stays in ${found.database}: ${problem}`);
  const tookS = (Date.parse(ended_at) - Date.parse(started_at)) / 1_000;
  say(
    `moved to ${database}: ${rows} rows, ${tookS.toFixed(1)} s, changes refused for ${refused_for_seconds} s`,
  );
};

const count = (lost: Record<string, number>) => {
  say(
    Object.entries(lost)
      .map(([name, n]) => `${name} ${n}`)
      .join(', '),
  );
  if (Object.values(lost).some((n) => n !== 0)) process.exitCode = 1;
};

const receiver = await openReceiver({ failFirst: 0 });
try {
  const checkout = await checkOut();
  liftLimits(checkout);
  addDatabase(checkout);
  const service = await startService(checkout);
  const account = await addKey(service, await signUp(service, 'ada@example.com'));
  const customer = await addEndpoint(service, account, receiver);
  await importLicenses(service, customer);
  say(`${LICENSES} licenses imported`);

  let isRunning = true;
  const calls = { acknowledged: 0, unknown: 0 };
  const seen: Seen = { calls, invalid: 0, created: [], changed: 0, refused: 0, longestMs: 0 };
  const running = load(service, customer, seen, () => isRunning);
  await delay(5_000);
  for (const database of ['DB2', 'DB']) {
    await move(service, customer, database);
    await delay(5_000);
  }
  isRunning = false;
  await running;
  const { acknowledged, unknown } = calls;
  say(
    `${acknowledged} verifies (${unknown} unknown), the longest ${seen.longestMs} ms; ${seen.created.length} licenses created`,
  );
  say(`${seen.refused} changes refused, and repeated by their callers`);

  const dashboard = expectOk(await service.get('/api/dashboard', customer.session)) as {
    licenses: { total: number; suspended: number };
    usage: { api_usage: number };
  };
  const expected = acknowledged + 2 * seen.created.length;
  const eventsOf = (names: string[]) =>
    [...customer.inbox.events.values()].filter(({ name }) => names.includes(name)).length;
  const arrived = () => eventsOf(['license.verified', 'license.created', 'license.suspended']);
  for (const endMs = Date.now() + EVENTS_MS; arrived() < expected && Date.now() < endMs;) await delay(500);
  count({
    'lost: calls': acknowledged - dashboard.usage.api_usage,
    'wrong answers': seen.invalid,
    licenses: LICENSES + seen.created.length - dashboard.licenses.total,
    changes: seen.changed - dashboard.licenses.suspended,
    events: expected - arrived(),
  });
} finally {
  receiver.close();
  await cleanUp();
}
