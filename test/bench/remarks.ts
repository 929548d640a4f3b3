// The figures below the table, which have no limits.
import type { Bundle } from './build.ts';
import type { Counted, CountFigures } from './count-stage.ts';
import type { MemoryFigures } from './memory-stage.ts';
import { costOf } from './prices.ts';
import type { Figure } from './rounds.ts';
import type { Grown } from './seed.ts';
import type { StartFigures } from './start-stage.ts';
import type { VerifyFigures } from './verify-stage.ts';

const kib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
const dollars = (value: number) => `$${value.toFixed(2)}`;

/** Uses the CPU time of the whole runtime, which is more than Cloudflare bills. */
export const costs = ({ one, many, unheardMany }: CountFigures, { many: figures }: VerifyFigures) => {
  const cost = (counted: Counted, cpuMs: number) =>
    costOf({
      ...counted,
      objectRequests: 1 + counted.otherObjectRequests,
      cpuMs,
      objectSeconds: 1 / counted.callsPerSecond,
    });
  const cpuMs = figures['verify']?.cpuMsPerCall ?? Number.NaN;
  return {
    one: cost(one, cpuMs),
    many: cost(many, cpuMs),
    unheardMany: cost(unheardMany, figures['verify, no webhooks']?.cpuMsPerCall ?? Number.NaN),
  };
};

const countedLine = (what: string, { commits, gateRows, outboxRows }: Counted, total: number) =>
  `  ${what.padEnd(32)}${gateRows.toFixed(2)} rows in the gate, ${outboxRows.toFixed(2)} in the outbox, ` +
  `${commits.toFixed(2)} commits; ${dollars(total)} per million`;

const figureLine = (name: string, { callsPerSecond, p50Ms, p95Ms, cpuMsPerCall, restMs }: Figure) =>
  `  ${name.padEnd(32)}${Math.round(callsPerSecond)}/s, p50 ${p50Ms.toFixed(2)} ms, p95 ${p95Ms.toFixed(2)} ms, ` +
  `${cpuMsPerCall.toFixed(2)} ms of CPU per call, idle after ${Math.round(restMs)} ms`;

const figureLines = (title: string, figures: Record<string, Figure>) => [
  title,
  ...Object.entries(figures).map(([name, figure]) => figureLine(name, figure)),
];

interface Remarks {
  verify: VerifyFigures;
  counts: CountFigures;
  memory: MemoryFigures;
  bundle: Bundle;
  starts: StartFigures;
  grown: Grown;
}

export const remarks = ({ verify, counts, memory, bundle, starts, grown }: Remarks): string => {
  const cost = costs(counts, verify);
  const lazy = Object.entries(bundle.lazyBytes).map(([name, bytes]) => `${name} (${kib(bytes)})`);
  const { requests, objectRequests, gateRows, outboxRows, cpu, objectDuration } = cost.many;
  return [
    ...figureLines('64 connections', verify.many),
    ...figureLines('One connection', verify.one),
    ...figureLines('One connection, by the size of the account', verify.bySize),
    'Rows written per verify, and the cost of a million verifies beyond the included usage',
    countedLine('64 connections', counts.many, cost.many.total),
    countedLine('64 connections, no webhooks', counts.unheardMany, cost.unheardMany.total),
    countedLine('one connection', counts.one, cost.one.total),
    `  of the first: requests ${dollars(requests)}, object requests ${dollars(objectRequests)}, rows of the gate ${dollars(gateRows)}, ` +
      `rows of the outbox ${dollars(outboxRows)}, CPU ${dollars(cpu)}, object duration ${dollars(objectDuration)}; the cost of delivering webhooks is not included`,
    `Worker script      ${kib(bundle.bytes)}, gzipped ${kib(bundle.gzippedBytes)}; loaded on first use: ${lazy.join(', ')}`,
    `Start-up           ${Math.round(starts.serviceMs)} ms to the first response, ${Math.round(starts.emptyMs)} ms for an empty Worker`,
    `Big account        ${grown.rows} licenses, inserted in ${grown.insertSeconds.toFixed(1)} s; its gate loaded them in ${grown.loadSeconds.toFixed(1)} s`,
    `Every license once ${Math.round(memory.callsPerSecond)}/s at 64 connections, with the inspector on`,
  ].join('\n');
};
