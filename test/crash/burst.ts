// `npm run test:burst`: how fast verify answers while 10,000 of an account's webhooks go out, and how much memory
// that takes, against the same calls when there are none to send, in one run.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { checkOut, cleanUp, runCommand, type Service, startService } from '../e2e/support/service.ts';
import { addEndpoint, addKey, createLicense, type Customer, signUp, verify } from './customer.ts';
import { openReceiver } from './receiver.ts';

const EVENTS = 10_000;
const CONNECTIONS = 32;
const IDLE_SAMPLES = 300;
/** Between two calls of the one connection. */
const PAUSE_MS = 25;
/** So slowly that the burst stays in the outbox until it is complete. */
const SLOW_ANSWER_MS = 5_000;
const MAX_RATIO = 1.5;
/** By which the runtime may grow while it drains; what the calls before took stays with it. */
const MAX_GROWTH_MIB = 128;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const slowness = { failFirst: 0, answerAfterMs: 0 };
const receiver = await openReceiver(slowness);
const folder = await checkOut();

/** Of the runtime that was started in the folder; null where /proc doesn't tell. */
const memoryMiB = (): number | null => {
  const sizes = [];
  try {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) continue;
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        if (/^Name:\s+workerd$/m.test(status)) sizes.push(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0));
      } catch {
        // It has ended.
      }
    }
  } catch {
    return null;
  }
  return sizes.length > 0 ? Math.round(Math.max(...sizes) / 1_024) : null;
};

const quantile = (samples: number[], share: number): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ?? Number.NaN;

const show = (samples: number[]) =>
  `p50 ${quantile(samples, 0.5).toFixed(1)} ms, p95 ${quantile(samples, 0.95).toFixed(1)} ms (${samples.length} calls)`;

let made = 0;
const timed = async (
  service: Service,
  customer: Pick<Customer, 'apiKey'>,
  licenseKey: string,
): Promise<number> => {
  const beganMs = performance.now();
  if (!(await verify(service, customer, licenseKey))) throw new Error('A verify was refused.');
  made++;
  return performance.now() - beganMs;
};

/** One call after the other for as long as it is wanted. */
const sample = async (call: () => Promise<number>, goesOn: (count: number) => boolean) => {
  const samples: number[] = [];
  while (goesOn(samples.length)) {
    samples.push(await call());
    await delay(PAUSE_MS);
  }
  return samples;
};

const giveScale = async (accountId: string) => {
  const sql = `UPDATE accounts SET plan = 'scale' WHERE id = '${accountId}'`;
  const command = ['npx', 'wrangler', 'd1', 'execute', 'DB', '--local', '--command', sql];
  const { code, stdout, stderr } = await runCommand(folder, 'env', 'WRANGLER_SEND_METRICS=false', ...command);
  if (code !== 0) throw new Error(`The plan could not be set:\n${stdout}${stderr}`);
};

const run = async (): Promise<boolean> => {
  const service = await startService(folder);
  const account = await signUp(service, 'burst@example.com');
  await giveScale(account.accountId);
  const keyed = await addKey(service, account);
  const licenseKey = await createLicense(service, keyed);
  if (!licenseKey) throw new Error('A license was refused.');
  const call = () => timed(service, keyed, licenseKey);

  const callAtOnce = async () => {
    const beganMs = performance.now();
    let begun = 0;
    const connection = async () => {
      while (begun++ < EVENTS) await call();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    return ((performance.now() - beganMs) / 1_000).toFixed(1);
  };

  const memoryIdle = memoryMiB();
  console.log(`calls alone         ${EVENTS} verifies in ${await callAtOnce()} s`);
  const memoryCalls = memoryMiB();
  const idle = await sample(call, (count) => count < IDLE_SAMPLES);
  console.log(`idle, no webhooks   ${show(idle)}`);

  const customer = await addEndpoint(service, keyed, receiver);
  made = 0;
  const waiting = () => made - customer.inbox.events.size;
  const drain = async () => {
    while (waiting() > 0) await delay(50);
  };

  slowness.answerAfterMs = SLOW_ANSWER_MS;
  const burstSeconds = await callAtOnce();
  console.log(`burst               ${EVENTS} verifies in ${burstSeconds} s, ${waiting()} webhooks wait`);

  slowness.answerAfterMs = 0;
  const drainMs = performance.now();
  const from = waiting();
  const already = made;
  const memoryBurst = memoryMiB();
  let memoryPeak = memoryBurst ?? 0;
  const busy = await sample(call, () => {
    memoryPeak = Math.max(memoryPeak, memoryMiB() ?? 0);
    return waiting() > CONNECTIONS;
  });
  const drainSeconds = (performance.now() - drainMs) / 1_000;
  const rate = (from + made - already) / drainSeconds;
  await drain();
  const ratio = quantile(busy, 0.5) / quantile(idle, 0.5);
  console.log(`during the drain    ${show(busy)}`);
  console.log(`ratio of the p50s   ${ratio.toFixed(2)}, at most ${MAX_RATIO}`);
  console.log(`drained             in ${drainSeconds.toFixed(1)} s, ${rate.toFixed(0)} webhooks a second`);
  const growth = memoryPeak - (memoryBurst ?? 0);
  console.log(
    `memory of workerd   ${memoryIdle} MiB idle, ${memoryCalls} after the calls alone, ${memoryBurst} after the burst`,
  );
  console.log(`growth in the drain ${growth} MiB, at most ${MAX_GROWTH_MIB}`);
  console.log(`duplicated          ${customer.inbox.duplicated}`);
  return ratio <= MAX_RATIO && growth <= MAX_GROWTH_MIB;
};

let passed = false;
try {
  passed = await run();
} finally {
  receiver.close();
  await cleanUp();
}
process.exit(passed ? 0 : 1);
