// What a neighbor feels whose Worker and gate are elsewhere, as in production: only D1 is shared with the attackers.
import type { Answered, Order } from '../attackers.ts';
import { quantile, summarize } from '../latencies.ts';
import type { Neighbor, Samples } from './neighbor.ts';
import type { Attackers, World } from './runtimes.ts';

/** Rounds without and with attacks take turns, because other work on the machine affects both. */
const ROUNDS = { account: 6, strangers: 3, forgers: 4 };
const ROUND_SECONDS = { account: 10, strangers: 5, forgers: 10 };
/** Forgers send so many bodies in a round, however long that takes: 10,000 in all. */
const FORGED_A_ROUND = 2_500;
const MOST_SECONDS = 300;

export const isOverIn = (seconds: number) => {
  const endMs = performance.now() + seconds * 1_000;
  return () => performance.now() > endMs;
};

export const noSamples = (): Samples => ({ verify: [], create: [] });

export const told = ({ counts }: Answered) =>
  Object.entries(counts)
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ');

/** Adds what an attack was answered in a round to the rounds before. */
const add = (sum: Map<string, Answered>, { name, counts }: Answered) => {
  const all = sum.get(name) ?? { name, counts: {} };
  for (const [outcome, count] of Object.entries(counts))
    all.counts[outcome] = (all.counts[outcome] ?? 0) + count;
  sum.set(name, all);
};

/** Returns how much slower the neighbor's verifies are beside a group of attacks, by their p95. */
export const measureBeside = async (
  { database, attacked }: World,
  attackers: Attackers,
  neighbor: Neighbor,
  group: Order['group'],
): Promise<number> => {
  const [idle, busy] = [noSamples(), noSamples()];
  const answered = new Map<string, Answered>();
  const seconds = ROUND_SECONDS[group];
  const order: Order =
    group === 'forgers' ? { group, seconds: MOST_SECONDS, calls: FORGED_A_ROUND } : { group, seconds };
  const used = { database: 0, attacked: 0, time: 0 };
  for (let round = 0; round < ROUNDS[group]; round++) {
    await neighbor.sample(idle, isOverIn(seconds));
    const before = {
      database: database.cpuMs(),
      attacked: attacked.runtime.cpuMs(),
      time: performance.now(),
    };
    // An import goes on after the round. The neighbor is timed until the last answer.
    let isOver = false;
    const sampled = neighbor.sample(busy, () => isOver);
    for (const answers of await attackers.send(order)) add(answered, answers);
    isOver = true;
    await sampled;
    used.database += database.cpuMs() - before.database;
    used.attacked += attacked.runtime.cpuMs() - before.attacked;
    used.time += performance.now() - before.time;
  }
  for (const answers of answered.values()) console.log(`  ${answers.name.padEnd(38)} ${told(answers)}`);
  const ratioOf = (call: keyof Samples) => quantile(busy[call], 0.95) / quantile(idle[call], 0.95);
  for (const call of ['verify', 'create'] as const) {
    console.log(`  ${call}, idle      ${summarize(idle[call])}`);
    console.log(`  ${call}, attacked  ${summarize(busy[call])}, p95 ${ratioOf(call).toFixed(2)} × idle`);
  }
  const shareOf = (ms: number) => `${((100 * ms) / used.time).toFixed(0)} %`;
  console.log(`  CPU time: D1 ${shareOf(used.database)}, the attackers’ runtime ${shareOf(used.attacked)}`);
  return ratioOf('verify');
};
