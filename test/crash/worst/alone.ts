// What each attack costs by itself, and what a neighbor feels whose Worker and gate share the attackers' only thread. On
// Cloudflare, that is the worst that can happen in one isolate.
import { quantile, summarize } from '../latencies.ts';
import { isOverIn, noSamples, told } from './beside.ts';
import type { Neighbor } from './neighbor.ts';
import type { Attackers, World } from './runtimes.ts';

const SECONDS = 2;

export const measureAlone = async (
  { database, attacked: { runtime } }: World,
  attackers: Attackers,
  neighbor: Neighbor,
) => {
  const usage = () => ({ worker: runtime.cpuMs(), database: database.cpuMs(), timeMs: performance.now() });
  const idle = noSamples();
  const before = usage();
  await neighbor.sample(idle, isOverIn(2 * SECONDS));
  const verifyMs = (usage().worker - before.worker) / idle.verify.length;
  console.log(
    `Each attack alone. In the same thread, verify takes ${summarize(idle.verify)} without attacks:`,
  );
  for (const group of ['account', 'strangers'] as const) {
    for (const only of attackers.names[group]) {
      const busy = noSamples();
      let isOver = false;
      const start = usage();
      const sampled = neighbor.sample(busy, () => isOver);
      const [answers] = await attackers.send({ group, only, seconds: SECONDS });
      isOver = true;
      await sampled;
      const end = usage();
      if (!answers) throw new Error(`There is no attack that ${only}.`);
      const calls = Object.values(answers.counts).reduce((sum, count) => sum + count, 0);
      const workerMs = end.worker - start.worker - busy.verify.length * verifyMs;
      const databaseMs = end.database - start.database;
      const share = (100 * databaseMs) / (end.timeMs - start.timeMs);
      console.log(
        `  ${only.padEnd(38)} a call ${(workerMs / calls).toFixed(1)} ms of CPU, ${(databaseMs / calls).toFixed(1)} ms of D1 ` +
          `(${share.toFixed(0)} % of its time); verify p50 ${quantile(busy.verify, 0.5).toFixed(1)} ms, ` +
          `p95 ${quantile(busy.verify, 0.95).toFixed(1)} ms; ${told(answers)}`,
      );
    }
  }
};
