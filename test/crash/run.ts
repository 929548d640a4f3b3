// `npm run test:crash`: starts the service with `npm run dev`, kills its process tree several times under load,
// and compares what was acknowledged with the events that arrived, the usage, the seats, and the purchases. At each kill,
// branches hold grants, and stores of all providers report purchases.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkOut } from '../e2e/support/checkout.ts';
import { cleanUp, type Service } from '../e2e/support/service.ts';
import { addEndpoint, addKey, listPending, signUp } from './customer.ts';
import { checkCut } from './cut.ts';
import { readGrants } from './grants.ts';
import { checkLimit } from './limit.ts';
import { type Acknowledged, load } from './load.ts';
import { type Duplicate, openReceiver } from './receiver.ts';
import { changeFreePlan, checkSuspension, HOME, LEASE_MS, readUsage, startWithBranches } from './regions.ts';
import { checkSeats, openSeatRecord } from './seats.ts';
import { openShop } from './shop/shop.ts';
import { countLost, table, tally } from './tally.ts';

const ROUNDS = 5;
const CUSTOMERS = 3;
const FAIL_FIRST = 0.2;
/** The shortest and the longest time under load before a kill. */
const ROUND_MS = [10_000, 16_000] as const;
/**
 * How long nothing may arrive while deliveries are pending: a gate that was killed forwards its events within a minute, the
 * lease of a killed consumer lasts 30 s, and the first retry is due after up to 6 s. How long the whole backlog takes depends
 * on the machine.
 */
const STALLED_AFTER_MS = 100_000;
/** How long an attempt may wait to be settled after its answer, on a busy machine. A kill in this time sends the event again. */
const MAX_UNSETTLED_MS = 8_000;
/** How long the usage may stay as it is while calls are missing. A branch that was killed reports them when its lease has ended. */
const USAGE_STALLED_AFTER_MS = 4 * LEASE_MS;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** So many that the default run takes no longer for them. `--purchases 2000` takes minutes more. */
const { values } = parseArgs({ options: { purchases: { type: 'string', default: '300' } } });

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const receiver = await openReceiver({ failFirst: FAIL_FIRST });
// Memory outlives a process that is killed, and a commit doesn't wait for a disk that other work uses, too.
const folder = await checkOut(existsSync('/dev/shm') ? '/dev/shm' : undefined);
changeFreePlan(folder);
const shop = await openShop(folder, Number(values.purchases));

let service: Service | null = null;
let isLoading = true;

const restart = async (): Promise<{ service: Service; tookMs: number }> => {
  const startMs = Date.now();
  const started = await startWithBranches(folder, shop.variables);
  service = started;
  return { service: started, tookMs: Date.now() - startMs };
};

/** Waits until every acknowledged event has arrived and no delivery is pending. Returns what is pending if nothing moves. */
const waitForDrain = async (
  to: Service,
  parts: Awaited<ReturnType<typeof startLoad>>['parts'],
): Promise<string[]> => {
  let taken = 0;
  let takenMs = Date.now();
  for (;;) {
    const lost = countLost(tally(parts));
    const nowTaken = parts.reduce((sum, { inbox }) => sum + inbox.events.size + inbox.failed.size, 0);
    if (nowTaken > taken) takenMs = Date.now();
    taken = nowTaken;
    const isStalled = Date.now() - takenMs > STALLED_AFTER_MS;
    if (lost === 0 || isStalled) {
      const lists = await Promise.all(parts.map(({ customer }) => listPending(to, customer)));
      const pending = lists.flat().map((delivery) => JSON.stringify({ ...delivery, payload: undefined }));
      if (isStalled) return [...(lost > 0 ? [`${lost} events`] : []), ...pending];
      if (pending.length === 0) return [];
    }
    await delay(500);
  }
};

interface Kill {
  atMs: number;
  restartedAtMs: number;
}

const killExplains = ({ answeredAtMs, repeatedAtMs }: Duplicate, { atMs, restartedAtMs }: Kill): boolean =>
  answeredAtMs > atMs - MAX_UNSETTLED_MS && answeredAtMs < restartedAtMs && repeatedAtMs > atMs;

const startLoad = async (to: Service) => {
  const parts = [];
  for (let index = 0; index < CUSTOMERS; index++) {
    const account = await addKey(to, await signUp(to, `crash-${index}@example.com`, { home_region: HOME }));
    const customer = await addEndpoint(to, account, receiver);
    const seats = await openSeatRecord(to, account);
    const acknowledged: Acknowledged = {
      created: [],
      verified: new Map(),
      counts: { acknowledged: 0, unknown: 0 },
      inBranches: 0,
      seats,
      rejected: 0,
    };
    parts.push({ customer, acknowledged, inbox: customer.inbox });
  }
  const target = { service: () => service, isRunning: () => isLoading };
  return {
    parts,
    loads: Promise.all(parts.map(({ customer, acknowledged }) => load(customer, acknowledged, target))),
  };
};

/** Waits until branches have reported their calls, and returns what is wrong with the usage. */
const checkUsage = async (
  to: Service,
  parts: Awaited<ReturnType<typeof startLoad>>['parts'],
): Promise<string[]> => {
  const check = async ({ customer, acknowledged: { counts } }: (typeof parts)[number]) => {
    const { acknowledged, unknown } = counts;
    let usage = -1;
    let changedMs = Date.now();
    while (usage < acknowledged && Date.now() - changedMs < USAGE_STALLED_AFTER_MS) {
      if (usage >= 0) await delay(500);
      const now = await readUsage(to, customer);
      if (now > usage) changedMs = Date.now();
      usage = now;
    }
    console.log(
      `usage          ${usage} calls, of ${acknowledged} acknowledged calls, ${unknown} got no answer`,
    );
    const isExact = usage >= acknowledged && usage <= acknowledged + unknown;
    return isExact
      ? []
      : [`${usage} calls were counted of ${acknowledged}, and ${unknown} without an answer`];
  };
  return (await Promise.all(parts.map(check))).flat();
};

const run = async (): Promise<boolean> => {
  const errors: string[] = [];
  const kills: Kill[] = [];
  let current = await restart();
  const { parts, loads } = await startLoad(current.service);
  const sales = await shop.start(current.service, () => service);
  for (let round = 1; round <= ROUNDS; round++) {
    const [minMs, maxMs] = ROUND_MS;
    const loadMs = minMs + Math.random() * (maxMs - minMs);
    const loadedMs = Date.now();
    // The shop sells throughout the kills.
    await Promise.all([delay(loadMs), sales.untilTaken(round / (ROUNDS + 1))]);
    service = null;
    const atMs = Date.now();
    await current.service.stop('SIGKILL');
    const grants = readGrants(folder);
    const unspent = grants.reduce((sum, calls) => sum + calls, 0);
    if (unspent === 0) errors.push(`no branch held a grant at kill ${round}`);
    current = await restart();
    kills.push({ atMs, restartedAtMs: Date.now() });
    console.log(
      `round ${round}: killed after ${seconds(atMs - loadedMs)}, while ${grants.length} branches held ${unspent} calls, restarted in ${seconds(current.tookMs)}`,
    );
  }
  const restartedMs = Date.now();
  // The last start is under load as well, so that leftover deliveries compete with new ones.
  await delay(4_000);
  isLoading = false;
  await loads;
  const drained = waitForDrain(current.service, parts).then((pending) => ({
    pending,
    drainMs: Date.now() - restartedMs,
  }));
  errors.push(...(await checkLimit(current.service)));
  const { pending, drainMs } = await drained;
  await sales.finish(current.service);

  errors.push(...(await checkUsage(current.service, parts)));
  for (const { customer } of parts) {
    const validIn = await checkSuspension(current.service, customer);
    if (validIn.length > 0) errors.push(`a suspended license is valid in ${validIn.join(', ')}`);
  }
  for (const { customer } of parts.slice(0, 1)) errors.push(...(await checkCut(current.service, customer)));
  for (const { customer, acknowledged } of parts)
    await checkSeats(current.service, customer, acknowledged.seats);
  const sold = await sales.report(current.service, kills.at(-1)?.atMs ?? 0);
  errors.push(...sold.errors);
  const seatErrors = parts.flatMap(({ acknowledged }) => acknowledged.seats.errors);

  const counts = tally(parts);
  const total = (count: (part: (typeof parts)[number]) => number) =>
    parts.reduce((sum, part) => sum + count(part), 0);
  const arrived = counts.created.arrived + counts.verified.arrived + counts.activated.arrived;
  const duplicates = parts.flatMap(({ inbox }) => inbox.duplicates);
  const isExplained = (one: Duplicate) => kills.some((kill) => killExplains(one, kill));
  const unexplained = duplicates.filter((one) => !isExplained(one));
  const mailedAgain = sold.mailedAgain.filter((one) => !isExplained(one));
  const badSignatures = total(({ inbox }) => inbox.badSignatures);
  console.log(`\n${table(counts)}\n\n${sold.lines.join('\n')}`);
  console.log(`mailed again   ${mailedAgain.length} without a kill just after the first\n`);
  console.log(
    `duplicated     ${duplicates.length} requests (${((100 * duplicates.length) / arrived).toFixed(2)} % of arrived events), ${unexplained.length} of them without a kill just after the first`,
  );
  console.log(`failed first   ${total(({ inbox }) => inbox.failed.size)}, answered with 500 on purpose`);
  console.log(`bad signature  ${badSignatures}`);
  const inBranches = total(({ acknowledged }) => acknowledged.inBranches);
  console.log(`in branches    ${inBranches} verifies`);
  console.log(`other errors   ${errors.length}${errors.map((error) => `\n  ${error}`).join('')}`);
  console.log(`seat errors    ${seatErrors.length}${seatErrors.map((error) => `\n  ${error}`).join('')}`);
  console.log(
    `rejected       ${total(({ acknowledged }) => acknowledged.rejected)} calls with a response other than 2xx`,
  );
  console.log(
    pending.length === 0
      ? `drained        ${seconds(drainMs)} after the last restart`
      : `not drained    ${seconds(drainMs)} after the last restart:\n  ${pending.slice(0, 10).join('\n  ')}`,
  );
  return (
    pending.length === 0 &&
    countLost(counts) === 0 &&
    seatErrors.length === 0 &&
    errors.length === 0 &&
    badSignatures === 0 &&
    unexplained.length + mailedAgain.length === 0
  );
};

let passed = false;
try {
  passed = await run();
} finally {
  isLoading = false;
  receiver.close();
  shop.close();
  await cleanUp();
}
console.log(passed ? '\n✓ No acknowledged event, call, seat or purchase was lost' : '\n✗ Failed, see above');
process.exit(passed ? 0 : 1);
