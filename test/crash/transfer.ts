// `npm run test:transfer`: exports an account with 20,000 licenses, imports it into another instance of the service, and
// compares the exports. Then imports 100,000 lines while the tool and the service are killed, and counts the licenses.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { checkOut } from '../e2e/support/checkout.ts';
import { cleanUp, type Service, startService } from '../e2e/support/service.ts';
import { addKey, signUp } from './customer.ts';
import { liftLimits } from './lifted-limits.ts';
import { watchMemory } from './workerd-memory.ts';

const LICENSES = Number(process.env['TRANSFER_LICENSES'] ?? 20_000);
const LINES = Number(process.env['TRANSFER_LINES'] ?? 100_000);
const CLI = join(import.meta.dirname, '../../src/client/cli.ts');
const TYPES = ['product', 'license', 'activation', 'webhook'];
const started = Date.now();

const say = (text: string) => console.log(`${((Date.now() - started) / 1_000).toFixed(0)} s  ${text}`);

const folder = await mkdtemp(join(tmpdir(), 'latchkey-transfer-'));

const start = async (checkout: string): Promise<Service> => startService(checkout);

interface Run {
  child: ChildProcess;
  done: Promise<{ status: number | null; stdout: string; peakMiB: number }>;
}

const readRssMiB = (pid: number): number => {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
};

/** Runs the tool in a process of its own. */
const run = (service: Service, apiKey: string, ...args: string[]): Run => {
  const env = { ...process.env, LATCHKEY_URL: service.origin, LATCHKEY_API_KEY: apiKey };
  const child = spawn(process.execPath, [CLI, 'licenses', ...args, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  let peakMiB = 0;
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const timer = setInterval(() => (peakMiB = Math.max(peakMiB, readRssMiB(child.pid ?? 0))), 200);
  const done = new Promise<{ status: number | null; stdout: string; peakMiB: number }>((resolve) => {
    child.on('close', (status) => {
      clearInterval(timer);
      resolve({ status, stdout, peakMiB: Math.round(peakMiB) });
    });
  });
  return { child, done };
};

const expectDone = async (name: string, { done }: Run) => {
  const fromMs = Date.now();
  const { status, stdout, peakMiB } = await done;
  const took = ((Date.now() - fromMs) / 1_000).toFixed(1);
  say(
    `${name}: exit ${status}, ${took} s, the tool's memory at most ${peakMiB} MiB ${stdout.replace(/\s+/g, ' ')}`,
  );
  if (status !== 0) throw new Error(`${name} failed.`);
};

const writeLines = async (name: string, lines: Iterable<object>): Promise<string> => {
  const file = join(folder, name);
  const target = createWriteStream(file);
  for (const line of lines) if (!target.write(`${JSON.stringify(line)}\n`)) await once(target, 'drain');
  await new Promise<void>((resolve) => target.end(resolve));
  return file;
};

const licenseOf = (i: number, prefix: string) => ({
  type: 'license',
  license_key: `${prefix}-${String(i).padStart(7, '0')}`,
  customer_email: `customer-${i}@example.com`,
  customer_name: i % 3 === 0 ? null : `Customer ${i}`,
  product: ['orrery', 'floating', null][i % 3],
  expires_at: [null, '2999-12-31', '2020-01-31'][i % 3],
  updates_until: i % 5 === 0 ? '2030-01-01' : null,
  metadata: { order: i, channel: 'shop' },
  status: i % 11 === 0 ? 'suspended' : undefined,
  created_at: new Date(Date.UTC(2020, 0, 1) + i * 60_000).toISOString(),
});

function* source() {
  yield { type: 'product', code: 'orrery', name: 'Orrery', terms: { max_activations: 2 } };
  yield {
    type: 'product',
    code: 'floating',
    name: 'Floating',
    terms: { max_activations: 3, lease_seconds: 2_678_400 },
  };
  for (let i = 0; i < LICENSES; i++) yield licenseOf(i, 'SOURCE');
  const now = new Date().toISOString();
  for (let i = 0; i < LICENSES; i += 4)
    yield {
      type: 'activation',
      license_key: licenseOf(i, 'SOURCE').license_key,
      fingerprint: `machine-${i}`,
      name: 'desk',
      activated_at: now,
      released_at: i % 16 === 0 ? now : null,
    };
  yield { type: 'webhook', url: 'https://example.com/hooks', events: null, description: 'Shop' };
}

/** Returns the lines that an import takes, without ids and the times of the import. */
const readExport = async (file: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line = JSON.parse(text) as Record<string, unknown>;
    if (!TYPES.includes(line['type'] as string)) continue;
    const times = line['type'] === 'webhook' ? { created_at: '' } : {};
    found.push(JSON.stringify({ ...line, ...times, id: '', license_id: '', updated_at: '' }));
  }
  return found.toSorted();
};

const account = async (service: Service, email: string) => {
  const customer = await addKey(service, await signUp(service, email));
  return { ...customer, key: customer.apiKey['x-api-key'] };
};

try {
  const [first, second] = [await checkOut(), await checkOut()];
  for (const checkout of [first, second]) liftLimits(checkout);
  const from = await start(first);
  const ada = await account(from, 'ada@example.com');
  const file = await writeLines('source.ndjson', source());
  await expectDone(`import of ${LICENSES} licenses`, run(from, ada.key, 'import', file));
  // Changes that leave a history.
  const renamed = await writeLines(
    'renamed.ndjson',
    Array.from({ length: LICENSES / 10 }, (_, i) => ({
      ...licenseOf(i, 'SOURCE'),
      customer_name: `Renamed ${i}`,
    })),
  );
  await expectDone('update of a tenth', run(from, ada.key, 'import', renamed, '--on-conflict', 'update'));
  const exported = join(folder, 'exported.ndjson');
  await expectDone('export', run(from, ada.key, 'export', '--out', exported));
  await from.stop();

  let to = await start(second);
  const bob = await account(to, 'bob@example.com');
  await expectDone('import into another instance', run(to, bob.key, 'import', exported));
  const again = join(folder, 'again.ndjson');
  await expectDone('export again', run(to, bob.key, 'export', '--out', again));
  const [before, after] = [await readExport(exported), await readExport(again)];
  const different = before.filter((line, i) => {
    const other = after[i];
    // An imported webhook is disabled.
    return line !== other && !(line.includes('"webhook"') && other?.includes('"webhook"'));
  });
  say(`${before.length} lines compared, ${different.length} differ`);
  if (different.length > 0 || before.length !== after.length)
    throw new Error(`The exports differ: ${different[0]}`);

  const grace = await account(to, 'grace@example.com');
  const lines = Array.from({ length: LINES }, (_, i) => licenseOf(i, 'LARGE'));
  const large = await writeLines('large.ndjson', lines);
  lines.length = 0;
  {
    using memory = await watchMemory(second);
    const cut = run(to, grace.key, 'import', large);
    await delay(8_000);
    cut.child.kill('SIGKILL');
    await cut.done;
    const { records } = JSON.parse(readFileSync(`${large}.importing`, 'utf8')) as { records: number };
    say(`killed the tool after ${records} records`);
    const resumed = run(to, grace.key, 'import', large);
    await delay(8_000);
    say(`the service's memory: ${memory.samplesMiB.join(', ')} MiB`);
    await to.stop('SIGKILL');
    say('killed the service');
    resumed.child.kill('SIGKILL');
    await resumed.done;
  }
  to = await start(second);
  {
    using memory = await watchMemory(second);
    await expectDone(`import of ${LINES} lines, after two kills`, run(to, grace.key, 'import', large));
    say(`the service's memory: ${memory.samplesMiB.join(', ')} MiB`);
  }
  const { body } = await to.get('/api/dashboard', grace.session);
  const { total } = (body as { licenses: { total: number } }).licenses;
  say(`${total} of ${LINES} licenses`);
  if (total !== LINES) throw new Error('Licenses are missing or double.');
} finally {
  await cleanUp();
  await rm(folder, { recursive: true, force: true });
}
