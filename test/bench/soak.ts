// `npm run bench -- --soak`: ten minutes of mixed load, after which all figures must match the acknowledged calls.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { addEndpoint, addKey, listPending } from '../crash/customer.ts';
import { openReceiver, type Receiver } from '../crash/receiver.ts';
import { CALLERS, HOME, readUsage } from '../crash/regions.ts';
import { openAccount } from './accounts.ts';
import { buildWorker, fixturePath, SERVICE_CONFIG } from './build.ts';
import { machine, machineLine } from './machine.ts';
import { watchMemory } from './memory-watch.ts';
import type { Options } from './options.ts';
import { migrate, openPlace, type Running, start } from './service.ts';
import { audit, isSettled, type Part } from './soak-audit.ts';
import { soakLoad, type Acknowledged } from './soak-load.ts';

const ACCOUNTS = 4;
/** So many accounts have callers in other regions than their home's. */
const ACCOUNTS_WITH_BRANCHES = 2;
/** A short lease, so that branches report their last calls soon. */
const SETTINGS = { REGIONS: 'on', REGIONS_LEASE_SECONDS: '5' };
const FAIL_FIRST = 0.1;
/** The first retry is due after up to 6 s, and each endpoint receives 80 requests per second. */
const DRAIN_TIMEOUT_MS = 180_000;
const PROGRESS_EVERY_MS = 60_000;

const newRecord = (): Acknowledged => ({
  created: [],
  verified: new Map(),
  counted: 0,
  inBranches: 0,
  keys: 0,
  unexpected: [],
});

const openPart = async (service: Running, receiver: Receiver, index: number): Promise<Part> => {
  const account = await openAccount(service, `soak-${index}@example.com`, 0, { home_region: HOME });
  const customer = await addEndpoint(service, await addKey(service, account), receiver);
  const callers = index < ACCOUNTS_WITH_BRANCHES ? CALLERS : [HOME];
  return { customer, acknowledged: newRecord(), callers };
};

/** Branches report their calls with the next renewal. */
const isCounted = async (service: Running, { customer, acknowledged }: Part) =>
  (await readUsage(service, customer)) >= acknowledged.counted;

/** Returns the duration of the drain in milliseconds, or null on a timeout. */
const waitForDrain = async (service: Running, parts: Part[]): Promise<number | null> => {
  const startMs = performance.now();
  while (performance.now() - startMs < DRAIN_TIMEOUT_MS) {
    if (parts.every(isSettled)) {
      const pending = await Promise.all(parts.map(({ customer }) => listPending(service, customer)));
      const counted = await Promise.all(parts.map((part) => isCounted(service, part)));
      if (pending.every((deliveries) => deliveries.length === 0) && counted.every(Boolean))
        return performance.now() - startMs;
    }
    await delay(500);
  }
  return null;
};

const run = async (service: Running, receiver: Receiver, { minutes, json }: Options): Promise<boolean> => {
  const parts = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, index) => openPart(service, receiver, index)),
  );
  const durationMs = minutes * 60_000;
  const memory = watchMemory(service.runtime, durationMs);
  const startMs = performance.now();
  const isRunning = () => performance.now() - startMs < durationMs;
  const counted = () => parts.reduce((sum, { acknowledged }) => sum + acknowledged.counted, 0);
  const progress = setInterval(() => console.log(`… ${counted()} calls counted`), PROGRESS_EVERY_MS);
  await Promise.all(
    parts.map(({ customer, acknowledged, callers }) =>
      soakLoad(service, customer, acknowledged, callers, isRunning),
    ),
  );
  clearInterval(progress);
  const grown = await memory;
  const drainMs = await waitForDrain(service, parts);
  const audits = await Promise.all(parts.map((part) => audit(service, part)));

  console.log(`\n${machineLine(machine())}\n${minutes} minutes, ${ACCOUNTS} accounts, ${counted()} calls\n`);
  console.log(audits.map(({ lines }) => lines.join('\n')).join('\n\n'));
  console.log(`\n${grown.lines.join('\n')}`);
  console.log(
    drainMs === null ? 'not drained' : `drained ${(drainMs / 1_000).toFixed(1)} s after the last call`,
  );
  if (json !== null) {
    const figures = { machine: machine(), minutes, calls: counted(), audits, memory: grown, drainMs };
    writeFileSync(json, `${JSON.stringify(figures, null, 2)}\n`);
  }
  return drainMs !== null && grown.isBounded && audits.every(({ agrees }) => agrees);
};

export const soak = async (folder: string, options: Options): Promise<boolean> => {
  const bundle = buildWorker(SERVICE_CONFIG, join(folder, 'service-bundle'), fixturePath('network'));
  const receiver = await openReceiver({ failFirst: FAIL_FIRST });
  const service = await start(bundle, openPlace(folder, 'soak'), true, SETTINGS);
  try {
    await migrate(service.runtime);
    const passed = await run(service, receiver, options);
    console.log(passed ? '\n✓ All figures match' : '\n✗ Failed, see above');
    return passed;
  } finally {
    receiver.close();
    await service.stop();
  }
};
