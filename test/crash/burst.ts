// `npm run test:burst`: measures the latency of verify and the memory of the runtime while 10,000 webhooks of one
// account are delivered, and compares them with the same calls without webhooks in the same run.
import { setTimeout as delay } from 'node:timers/promises';
import { checkOut } from '../e2e/support/checkout.ts';
import { cleanUp, runCommand, type Service, startService } from '../e2e/support/service.ts';
import { addEndpoint, addKey, createLicense, type Customer, signUp, verify } from './customer.ts';
import { quantile, summarize } from './latencies.ts';
import { openReceiver } from './receiver.ts';
import { watchMemory } from './workerd-memory.ts';

const EVENTS = 10_000;
const CONNECTIONS = 32;
const IDLE_SAMPLES = 300;
/** Delay between two sampled calls. */
const PAUSE_MS = 25;
/** Slow enough that the burst stays in the outbox until it is complete. */
const SLOW_RESPONSE_MS = 5_000;
const MAX_RATIO = 1.5;
/** Limit for the growth of the runtime during the drain, on top of its memory after the burst. */
const MAX_GROWTH_MIB = 32;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const behavior = { failFirst: 0, answerAfterMs: 0 };
const receiver = await openReceiver(behavior);
const folder = await checkOut();

let callCount = 0;
const timed = async (
  service: Service,
  customer: Pick<Customer, 'apiKey'>,
  licenseKey: string,
): Promise<number> => {
  const startMs = performance.now();
  if (!(await verify(service, customer, licenseKey))) throw new Error('A verify call was rejected.');
  callCount++;
  return performance.now() - startMs;
};

/** Makes one call after the other while `shouldContinue` returns true. */
const sample = async (call: () => Promise<number>, shouldContinue: (count: number) => boolean) => {
  const samples: number[] = [];
  while (shouldContinue(samples.length)) {
    samples.push(await call());
    await delay(PAUSE_MS);
  }
  return samples;
};

const setScalePlan = async (accountId: string) => {
  const sql = `UPDATE accounts SET plan = 'scale' WHERE id = '${accountId}'`;
  const command = ['npx', 'wrangler', 'd1', 'execute', 'DB', '--local', '--command', sql];
  const { code, stdout, stderr } = await runCommand(folder, 'env', 'WRANGLER_SEND_METRICS=false', ...command);
  if (code !== 0) throw new Error(`Couldn’t set the plan:\n${stdout}${stderr}`);
};

const run = async (): Promise<boolean> => {
  const service = await startService(folder);
  using memory = await watchMemory(folder);
  const memoryMiB = () => memory.samplesMiB.at(-1) ?? 0;
  const account = await signUp(service, 'burst@example.com');
  await setScalePlan(account.accountId);
  const accountWithKey = await addKey(service, account);
  const licenseKey = await createLicense(service, accountWithKey);
  if (!licenseKey) throw new Error('The license could not be created.');
  const call = () => timed(service, accountWithKey, licenseKey);

  const runBurst = async () => {
    const startMs = performance.now();
    let started = 0;
    const connection = async () => {
      while (started++ < EVENTS) await call();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    return ((performance.now() - startMs) / 1_000).toFixed(1);
  };

  const memoryIdle = memoryMiB();
  console.log(`calls alone         ${EVENTS} verifies in ${await runBurst()} s`);
  const memoryCalls = memoryMiB();
  const idle = await sample(call, (count) => count < IDLE_SAMPLES);
  console.log(`idle, no webhooks   ${summarize(idle)}`);

  const customer = await addEndpoint(service, accountWithKey, receiver);
  callCount = 0;
  const countWaiting = () => callCount - customer.inbox.events.size;
  const drain = async () => {
    while (countWaiting() > 0) await delay(50);
  };

  behavior.answerAfterMs = SLOW_RESPONSE_MS;
  const burstSeconds = await runBurst();
  console.log(
    `burst               ${EVENTS} verifies in ${burstSeconds} s, ${countWaiting()} webhooks waiting`,
  );

  behavior.answerAfterMs = 0;
  const drainStartMs = performance.now();
  const waitingAtStart = countWaiting();
  const callsAtStart = callCount;
  const memoryBurst = memoryMiB();
  const samplesAtStart = memory.samplesMiB.length;
  const busy = await sample(call, () => countWaiting() > CONNECTIONS);
  const drainSeconds = (performance.now() - drainStartMs) / 1_000;
  const rate = (waitingAtStart + callCount - callsAtStart) / drainSeconds;
  await drain();
  const ratio = quantile(busy, 0.5) / quantile(idle, 0.5);
  console.log(`during the drain    ${summarize(busy)}`);
  console.log(`ratio of the p50s   ${ratio.toFixed(2)}, at most ${MAX_RATIO}`);
  console.log(`drained             in ${drainSeconds.toFixed(1)} s, ${rate.toFixed(0)} webhooks per second`);
  const growth = Math.max(memoryBurst, ...memory.samplesMiB.slice(samplesAtStart)) - memoryBurst;
  console.log(
    `memory of workerd   ${memoryIdle} MiB idle, ${memoryCalls} after the calls alone, ${memoryBurst} after the burst`,
  );
  console.log(`growth in the drain ${growth} MiB, at most ${MAX_GROWTH_MIB}`);
  console.log(`duplicated          ${customer.inbox.duplicates.length}`);
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
