// Prints the results as a table with each ratio and its limit.
import type { CountFigures, D1Queries } from './count-stage.ts';
import type { ListFigures } from './list-stage.ts';
import { MAX_GROWTH_BYTES, type MemoryFigures } from './memory-stage.ts';
import { ratioOf } from './rounds.ts';
import { atLeast, atMost, mib, ms, p50, perSecond, type Row, table, throughput, verdict } from './rows.ts';
import { heartbeatRows, seatRatios, type SeatRatios, seatRows } from './seat-report.ts';
import type { HeartbeatFigures, SeatFigures } from './seat-stage.ts';
import type { VerifyFigures } from './verify-stage.ts';
import { countOutboxRows, type DeliveredFigures } from './webhook-stage.ts';

export interface Ratios extends SeatRatios {
  verify_floor_throughput: number;
  verify_floor_p50: number;
  verify_counted_floor_throughput: number;
  verify_counted_floor_p50: number;
  verify_d1_throughput: number;
  forged_echo_throughput: number;
  p50_million: number;
  p50_million_hot: number;
  list_million: number;
}

const listRatios = ({ small, big }: ListFigures) =>
  Object.keys(small).map((name) => ({ name, ratio: ratioOf(big[name], small[name]) }));

const COUNTED_FLOOR = 'floor that keeps a count';
const FORGED = ['forged key, bad tag', 'forged key, random string'];

export const ratiosOf = (
  { many, one, bySize }: VerifyFigures,
  lists: ListFigures,
  seats: SeatFigures,
): Ratios => ({
  verify_floor_throughput: ratioOf(many['verify'], many['floor'], 'callsPerSecond'),
  verify_floor_p50: ratioOf(one['verify'], one['floor']),
  verify_counted_floor_throughput: ratioOf(many['verify'], many[COUNTED_FLOOR], 'callsPerSecond'),
  verify_counted_floor_p50: ratioOf(one['verify'], one[COUNTED_FLOOR]),
  verify_d1_throughput: ratioOf(many['verify'], many['three D1 statements'], 'callsPerSecond'),
  forged_echo_throughput: Math.min(
    ...FORGED.map((name) => ratioOf(many[name], many['echo'], 'callsPerSecond')),
  ),
  p50_million: ratioOf(bySize['big account'], bySize['small account']),
  p50_million_hot: ratioOf(bySize['big account, hot'], bySize['small account']),
  list_million: Math.max(...listRatios(lists).map(({ ratio }) => ratio)),
  ...seatRatios(seats),
});

/** For a busy endpoint, from the event to its deletion. A lone webhook shares none of its rows. */
const MAX_WEBHOOK_ROWS = 5;

/** A lone verify writes its counters and its event, and the event is deleted later. The alarm is seldom set. */
const MAX_GATE_ROWS = 3.1;

const verifyRows = ({ many, one, bySize }: VerifyFigures, ratios: Ratios): Row[] => {
  const rate = (name: string) => perSecond(throughput(many, name));
  const forged = FORGED.map((name) => rate(name)).join(' and ');
  const small = ms(p50(bySize, 'small account'));
  const against = (name: string) => `${ms(p50(bySize, name))} against ${small}`;
  const rateAgainst = (name: string) => `${rate('verify')} against ${rate(name)}`;
  const p50Against = (name: string) => `${ms(p50(one, 'verify'))} against ${ms(p50(one, name))}`;
  return [
    atLeast(
      'verify, 64 connections, against the floor that keeps a count',
      rateAgainst(COUNTED_FLOOR),
      ratios.verify_counted_floor_throughput,
      2.1,
    ),
    atMost(
      'verify, one connection, p50, against the floor that keeps a count',
      p50Against(COUNTED_FLOOR),
      ratios.verify_counted_floor_p50,
      1.15,
    ),
    atLeast(
      'verify, 64 connections, against the floor',
      rateAgainst('floor'),
      ratios.verify_floor_throughput,
      0.58,
    ),
    atMost(
      'verify, one connection, p50, against the floor',
      p50Against('floor'),
      ratios.verify_floor_p50,
      1.7,
    ),
    atLeast(
      'verify against three D1 statements',
      rateAgainst('three D1 statements'),
      ratios.verify_d1_throughput,
      8,
    ),
    atLeast(
      'a forged key (bad tag; random) against an echo',
      `${forged} against ${rate('echo')}`,
      ratios.forged_echo_throughput,
      0.85,
    ),
    atMost(
      'p50, big account, drawn at random, against a small one',
      against('big account'),
      ratios.p50_million,
      1.2,
    ),
    atMost(
      'p50, big account, a working set of 1,000',
      against('big account, hot'),
      ratios.p50_million_hot,
      1.05,
    ),
  ];
};

const listRows = (lists: ListFigures): Row[] =>
  listRatios(lists).map(({ name, ratio }) =>
    atMost(
      `${name}, p50, big against small`,
      `${ms(p50(lists.big, name))} against ${ms(p50(lists.small, name))}`,
      ratio,
      1.5,
    ),
  );

const countRows = ({ one, many, unheardMany, d1QueriesAfterEviction, evictions }: CountFigures): Row[] => {
  const stages = [one, many, unheardMany];
  const calls = stages.reduce((sum, stage) => sum + stage.calls, 0);
  const queries = (by: keyof D1Queries) => stages.reduce((sum, { d1Queries }) => sum + d1Queries[by], 0);
  const none = (what: string, value: number): Row => [what, String(value), '', '0', verdict(value === 0)];
  return [
    none(`D1 queries of ${calls} verifies`, queries('byCalls')),
    none(`D1 queries of the gate’s alarms after ${calls} verifies`, queries('byAlarms')),
    none(
      `D1 queries of the first verify after each of ${evictions} evictions`,
      d1QueriesAfterEviction.byCalls,
    ),
    none(`D1 queries of the gate’s alarms after ${evictions} evictions`, d1QueriesAfterEviction.byAlarms),
    [
      'rows of a verify in the gate (64 connections; one)',
      `${many.gateRows.toFixed(2)}; ${one.gateRows.toFixed(2)}`,
      '',
      `≤ ${MAX_GATE_ROWS}`,
      verdict(one.gateRows <= MAX_GATE_ROWS),
    ],
  ];
};

const webhookRow = ({ many, lone }: DeliveredFigures): Row => [
  'rows of a delivered webhook in the outbox (64 connections; lone)',
  `${countOutboxRows(many).toFixed(2)}; ${countOutboxRows(lone).toFixed(2)}`,
  '',
  `≤ ${MAX_WEBHOOK_ROWS} at 64 connections`,
  verdict(countOutboxRows(many) <= MAX_WEBHOOK_ROWS),
];

const memoryRow = ({ licenses, heapBytes, rssBytes, growthBytes, diskBytes }: MemoryFigures): Row => [
  `memory after ${licenses} different licenses`,
  `heap ${mib(heapBytes[0] ?? 0)} → ${mib(heapBytes.at(-1) ?? 0)}, process ${mib(rssBytes[0] ?? 0)} → ${mib(rssBytes.at(-1) ?? 0)}, disk ${mib(diskBytes)}`,
  '',
  `second half ≤ ${mib(MAX_GROWTH_BYTES)} of heap`,
  verdict(growthBytes <= MAX_GROWTH_BYTES),
];

export const resultTable = (
  verify: VerifyFigures,
  lists: ListFigures,
  counts: CountFigures,
  delivered: DeliveredFigures,
  memory: MemoryFigures,
  seats: SeatFigures,
  heartbeats: HeartbeatFigures,
): string => {
  const ratios = ratiosOf(verify, lists, seats);
  return table([
    ...verifyRows(verify, ratios),
    ...seatRows(seats, ratios),
    ...listRows(lists),
    ...countRows(counts),
    ...heartbeatRows(heartbeats, seats),
    webhookRow(delivered),
    memoryRow(memory),
  ]);
};
