// The figures below the table, which have no limits.
import type { Bundle } from './build.ts';
import type { Counted, CountFigures } from './count-stage.ts';
import type { MemoryFigures } from './memory-stage.ts';
import { costOf } from './prices.ts';
import { type ReadFigures, readLines } from './read-stage.ts';
import type { Figure } from './rounds.ts';
import type { Grown } from './seed.ts';
import type { StartFigures } from './start-stage.ts';
import type { VerifyFigures } from './verify-stage.ts';
import { countOutboxRows, type Delivered, type DeliveredFigures } from './webhook-stage.ts';

const kib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
const dollars = (value: number) => `$${value.toFixed(2)}`;

/** Uses the CPU time of the whole runtime, which is more than Cloudflare bills. */
export const costs = (
  { one, many, unheardMany }: CountFigures,
  delivered: DeliveredFigures,
  { many: figures }: VerifyFigures,
) => {
  const withWebhook = (consumed: Delivered, { callsPerSecond }: Counted) =>
    costOf({
      ...consumed,
      // A lone verify waits for its webhook, and the probe meanwhile takes more time than both.
      cpuMs: delivered.many.cpuMs,
      outboxRows: countOutboxRows(consumed),
      queueMessages: consumed.hints,
      objectSeconds: 1 / callsPerSecond,
    });
  return {
    many: withWebhook(delivered.many, many),
    lone: withWebhook(delivered.lone, one),
    unheardMany: costOf({
      ...unheardMany,
      objectRequests: 1 + unheardMany.otherObjectRequests,
      queueMessages: 0,
      cpuMs: figures['verify, no webhooks']?.cpuMsPerCall ?? Number.NaN,
      objectSeconds: 1 / unheardMany.callsPerSecond,
    }),
  };
};

const countedLine = (what: string, { commits, gateRows, outboxRows, rowsRead }: Counted) =>
  `  ${what.padEnd(32)}${gateRows.toFixed(2)} rows in the gate, ${outboxRows.toFixed(2)} in the outbox, ${commits.toFixed(2)} commits, ` +
  `${rowsRead.toFixed(2)} rows read`;

const deliveredLine = (what: string, delivered: Delivered) => {
  const { accept, claim, settle, alarm, forget } = delivered.outboxRows;
  const rows = (value: number) => value.toFixed(2);
  return (
    `  ${what.padEnd(32)}accept ${rows(accept)}, claim ${rows(claim)}, settle ${rows(settle)}, alarms ${rows(alarm)}, ` +
    `forget ${rows(forget)}: ${rows(countOutboxRows(delivered))} in the outbox, ${rows(delivered.gateRows)} in the gate; read ${rows(delivered.rowsRead)}`
  );
};

const costLine = (what: string, { total, ...parts }: ReturnType<typeof costOf>) => {
  const { requests, objectRequests, objectDuration, gateRows, outboxRows, rowsRead, queue, cpu } = parts;
  return (
    `  ${what.padEnd(32)}${dollars(total)}: requests ${dollars(requests)}, object requests ${dollars(objectRequests)}, ` +
    `object duration ${dollars(objectDuration)}, rows of the gate ${dollars(gateRows)}, rows of the outbox ${dollars(outboxRows)}, ` +
    `rows read $${rowsRead.toFixed(4)}, queue ${dollars(queue)}, CPU ${dollars(cpu)}`
  );
};

const figureLine = (name: string, { callsPerSecond, p50Ms, p95Ms, cpuMsPerCall, restMs }: Figure) =>
  `  ${name.padEnd(32)}${Math.round(callsPerSecond)}/s, p50 ${p50Ms.toFixed(2)} ms, p95 ${p95Ms.toFixed(2)} ms, ` +
  `${cpuMsPerCall.toFixed(2)} ms of CPU per call, idle after ${Math.round(restMs)} ms`;

const figureLines = (title: string, figures: Record<string, Figure>) => [
  title,
  ...Object.entries(figures).map(([name, figure]) => figureLine(name, figure)),
];

interface Remarks {
  seatReads: ReadFigures;
  listReads: ReadFigures;
  verify: VerifyFigures;
  counts: CountFigures;
  delivered: DeliveredFigures;
  memory: MemoryFigures;
  bundle: Bundle;
  starts: StartFigures;
  grown: Grown;
}

export const remarks = (figures: Remarks): string => {
  const { verify, counts, delivered, seatReads, listReads, memory, bundle, starts, grown } = figures;
  const cost = costs(counts, delivered, verify);
  const lazy = Object.entries(bundle.lazyBytes).map(([name, bytes]) => `${name} (${kib(bytes)})`);
  return [
    ...figureLines('64 connections', verify.many),
    ...figureLines('One connection', verify.one),
    ...figureLines('One connection, by the size of the account', verify.bySize),
    'Rows written per verify, while the receiver of its webhooks doesn’t respond',
    countedLine('64 connections', counts.many),
    countedLine('64 connections, no webhooks', counts.unheardMany),
    countedLine('one connection', counts.one),
    'Rows written per verify with one endpoint, until its webhook is delivered and forgotten',
    deliveredLine('64 connections', delivered.many),
    deliveredLine('a lone verify', delivered.lone),
    'A million verifies and their webhooks, beyond the included usage',
    costLine('64 connections, one endpoint', cost.many),
    costLine('lone verifies, one endpoint', cost.lone),
    costLine('64 connections, no endpoint', cost.unheardMany),
    ...readLines('Rows of the gate that a call reads', seatReads),
    ...readLines('Rows of D1 that a list of the big account reads', listReads),
    `Worker script      ${kib(bundle.bytes)}, gzipped ${kib(bundle.gzippedBytes)}; loaded on first use: ${lazy.join(', ')}`,
    `Start-up           ${Math.round(starts.serviceMs)} ms to the first response, ${Math.round(starts.emptyMs)} ms for an empty Worker`,
    `Big account        ${grown.rows} licenses, inserted in ${grown.insertSeconds.toFixed(1)} s; its gate loaded them in ${grown.loadSeconds.toFixed(1)} s`,
    `Every license once ${Math.round(memory.callsPerSecond)}/s at 64 connections, with the inspector on`,
  ].join('\n');
};
