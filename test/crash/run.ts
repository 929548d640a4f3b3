// `npm run test:crash`: loads the service as `npm run dev` starts it, kills its whole process tree again and
// again, and counts what it had acknowledged against what arrived at the customers' endpoints.
import { setTimeout as delay } from 'node:timers/promises';
import { checkOut, cleanUp, type Service, startService } from '../e2e/support/service.ts';
import { addEndpoint, addKey, countPending, signUp } from './customer.ts';
import { type Acknowledged, load } from './load.ts';
import { openReceiver } from './receiver.ts';
import { lost, table, tally } from './tally.ts';

const ROUNDS = 5;
const CUSTOMERS = 3;
const FAIL_FIRST = 0.2;
/** A round lasts from so long to so long before the kill. */
const ROUND_MS = [10_000, 16_000] as const;
/** A dead consumer's lease runs for 30 s, a first retry is due after up to 6 s. */
const DRAIN_PATIENCE_MS = 120_000;
const MAX_DUPLICATED = 0.01;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const receiver = await openReceiver({ failFirst: FAIL_FIRST });
const folder = await checkOut();

let service: Service | null = null;
let loading = true;

const startAgain = async (): Promise<{ service: Service; tookMs: number }> => {
  const beganMs = Date.now();
  const started = await startService(folder);
  service = started;
  return { service: started, tookMs: Date.now() - beganMs };
};

/** Waits until all that was acknowledged has arrived and every delivery is settled; false if it doesn't come. */
const drained = async (to: Service, parts: Awaited<ReturnType<typeof begin>>['parts']): Promise<boolean> => {
  const untilMs = Date.now() + DRAIN_PATIENCE_MS;
  while (Date.now() < untilMs) {
    if (lost(tally(parts)) === 0) {
      const pending = await Promise.all(parts.map(({ customer }) => countPending(to, customer)));
      if (pending.every((count) => count === 0)) return true;
    }
    await delay(500);
  }
  return false;
};

const begin = async (to: Service) => {
  const parts = [];
  for (let index = 0; index < CUSTOMERS; index++) {
    const account = await addKey(to, await signUp(to, `crash-${index}@example.com`));
    const customer = await addEndpoint(to, account, receiver);
    const told: Acknowledged = { created: [], verified: new Map(), refused: 0 };
    parts.push({ customer, told, inbox: customer.inbox });
  }
  const reach = { service: () => service, goesOn: () => loading };
  return { parts, loads: Promise.all(parts.map(({ customer, told }) => load(customer, told, reach))) };
};

const run = async (): Promise<boolean> => {
  let current = await startAgain();
  const { parts, loads } = await begin(current.service);
  for (let round = 1; round <= ROUNDS; round++) {
    const [least, most] = ROUND_MS;
    const lastsMs = least + Math.random() * (most - least);
    await delay(lastsMs);
    service = null;
    await current.service.stop('SIGKILL');
    current = await startAgain();
    console.log(`round ${round}: killed after ${seconds(lastsMs)}, back in ${seconds(current.tookMs)}`);
  }
  const restartedMs = Date.now();
  // The last start is loaded, too, so that what was left over competes with what is new.
  await delay(4_000);
  loading = false;
  await loads;
  const isDrained = await drained(current.service, parts);
  const drainMs = Date.now() - restartedMs;

  const counts = tally(parts);
  const total = (of: (part: (typeof parts)[number]) => number) =>
    parts.reduce((sum, part) => sum + of(part), 0);
  const arrived = counts.created.arrived + counts.verified.arrived;
  const duplicated = total(({ inbox }) => inbox.duplicated);
  const badSignatures = total(({ inbox }) => inbox.badSignatures);
  console.log(`\n${table(counts)}\n`);
  console.log(
    `duplicated     ${duplicated} posts (${((100 * duplicated) / arrived).toFixed(2)} % of arrived)`,
  );
  console.log(`failed first   ${total(({ inbox }) => inbox.failed.size)}, as the receiver was told to`);
  console.log(`bad signature  ${badSignatures}`);
  console.log(
    `refused        ${total(({ told }) => told.refused)} calls that got an answer other than a 2xx`,
  );
  console.log(
    isDrained
      ? `drained        ${seconds(drainMs)} after the last restart`
      : `not drained    ${seconds(drainMs)} after the last restart`,
  );
  return isDrained && lost(counts) === 0 && badSignatures === 0 && duplicated < MAX_DUPLICATED * arrived;
};

let passed = false;
try {
  passed = await run();
} finally {
  loading = false;
  receiver.close();
  await cleanUp();
}
console.log(passed ? '\n✓ nothing acknowledged was lost' : '\n✗ see above');
process.exit(passed ? 0 : 1);
