// Counts what delivered webhooks cost, from the verify that causes an event to the deletion of the event.
import { setTimeout as delay } from 'node:timers/promises';
import { subscribe } from './accounts.ts';
import type { Probe } from './fixtures/probe.ts';
import type { Load } from './load/load.ts';
import { openPromptReceiver } from './receiver.ts';
import { planOf } from './rounds.ts';
import { untilIdle } from './runtime.ts';
import { forgetEvents, type Licensed, probe } from './seed.ts';
import type { Running } from './service.ts';
import { verifyTarget } from './targets.ts';

const MANY = { connections: 64, calls: 2_000, durationMs: Infinity };
const LONE = { connections: 1, calls: 1, durationMs: Infinity };
/** For a bit more than the minute after which the alarms of the gate and the outbox come. */
const LONE_CALLS = 10;
const LONE_INTERVAL_MS = 7_000;
const DRAIN_TIMEOUT_MS = 180_000;

const STAGES = ['accept', 'claim', 'settle', 'alarm', 'forget'] as const;

/** Per verify. */
export interface Delivered {
  gateRows: number;
  outboxRows: Record<(typeof STAGES)[number], number>;
  /** In the gate and the outbox. */
  rowsRead: number;
  /** Calls to the gate and the outbox, and their alarms. */
  objectRequests: number;
  /** Messages that hint at deliveries. A claim processes one. */
  hints: number;
  cpuMs: number;
}

export interface DeliveredFigures {
  many: Delivered;
  lone: Delivered;
}

export const countOutboxRows = ({ outboxRows }: Delivered): number =>
  STAGES.reduce((sum, stage) => sum + outboxRows[stage], 0);

const perVerify = (before: Probe, after: Probe, verifies: number, cpuMs: number): Delivered => {
  const per = (of: (probe: Probe) => number | undefined) => ((of(after) ?? 0) - (of(before) ?? 0)) / verifies;
  const rows = STAGES.map((stage) => [stage, per(({ outbox }) => outbox.rowsByStage[stage])]);
  const calls = (['accept', 'claim', 'settle'] as const).map((method) =>
    per(({ outbox }) => outbox.calls[method]),
  );
  return {
    gateRows: per(({ gate }) => gate.rows),
    outboxRows: Object.fromEntries(rows) as Delivered['outboxRows'],
    rowsRead: per(({ gate, outbox }) => gate.rowsRead + outbox.rowsRead),
    objectRequests:
      1 + calls.reduce((sum, count) => sum + count) + per(({ gate, outbox }) => gate.alarms + outbox.alarms),
    hints: per(({ outbox }) => outbox.calls['claim']),
    cpuMs: cpuMs / verifies,
  };
};

const count = async (service: Running, { accountId }: Licensed, runs: (() => Promise<number>)[]) => {
  const { runtime } = service;
  await forgetEvents(service, accountId);
  await untilIdle([runtime]);
  const before = await probe(service, accountId);
  const cpuBefore = runtime.cpuMs();
  const settled = async () => (await probe(service, accountId)).outbox.calls['settle'] ?? 0;
  const settledBefore = await settled();
  let verifies = 0;
  for (const run of runs) {
    verifies += await run();
    const startMs = performance.now();
    while ((await settled()) - settledBefore < verifies) {
      if (performance.now() - startMs > DRAIN_TIMEOUT_MS) throw new Error('Not all webhooks were delivered.');
      await delay(200);
    }
    await delay(LONE_INTERVAL_MS);
  }
  const cpuMs = runtime.cpuMs() - cpuBefore;
  await forgetEvents(service, accountId);
  return perVerify(before, await probe(service, accountId), verifies, cpuMs);
};

/** Takes the service with the counters, and an account without a webhook. */
export const measureWebhooks = async (
  load: Load,
  service: Running,
  account: Licensed,
): Promise<DeliveredFigures> => {
  const receiver = await openPromptReceiver();
  try {
    await subscribe(service, account, receiver.url);
    const target = verifyTarget('counted', service.runtime, account);
    const many = async () => (await load.run(planOf(target, MANY))).calls;
    const lone = async () => (await load.run(planOf(target, LONE))).calls;
    return {
      many: await count(service, account, [many]),
      lone: await count(
        service,
        account,
        Array.from({ length: LONE_CALLS }, () => lone),
      ),
    };
  } finally {
    receiver.close();
  }
};
