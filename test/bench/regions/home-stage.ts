// What the feature costs an account without branches, with real conditions: no simulated delays.
import { type Load, startLoad } from '../load/load.ts';
import { planOf, type Target } from '../rounds.ts';
import { untilIdle } from '../runtime.ts';
import { verifyTarget } from '../targets.ts';
import type { Worlds } from './latency-stage.ts';

const SLICE = { connections: 32, calls: 2_000, durationMs: Infinity };

export interface HomeFigures {
  /** Milliseconds of CPU time for a verify. */
  off: number;
  on: number;
  /**
   * The calls that a second of CPU time answers, against the feature off. Both services run at the same time, so that other
   * work on the machine affects both alike. Wall time would depend on which of them the system runs first.
   */
  ratio: number;
}

export const measureHome = async (load: Load, { off, on }: Worlds, rounds: number): Promise<HomeFigures> => {
  const otherLoad = startLoad();
  const cpuMsPerCall = async (target: Target, by: Load) => {
    const { runtime } = target;
    const before = runtime.cpuMs();
    const { calls } = await by.run(planOf(target, SLICE));
    await untilIdle([runtime]);
    return (runtime.cpuMs() - before) / calls;
  };
  const targets = {
    off: verifyTarget('off', off.service.runtime, off.account),
    on: verifyTarget('on', on.service.runtime, on.account),
  };
  const figures: { off: number; on: number }[] = [];
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    // In turn, because the two loads may differ.
    const [loadOff, loadOn] = round % 2 === 0 ? [load, otherLoad] : [otherLoad, load];
    const [without, with_] = await Promise.all([
      cpuMsPerCall(targets.off, loadOff),
      cpuMsPerCall(targets.on, loadOn),
    ]);
    if (round > 0) figures.push({ off: without, on: with_ });
  }
  const [wrong] = otherLoad.wrong();
  await otherLoad.stop();
  if (wrong !== undefined) throw new Error(`Unexpected responses: ${wrong}`);
  const mean = (of: 'off' | 'on') => figures.reduce((sum, figure) => sum + figure[of], 0) / figures.length;
  return { off: mean('off'), on: mean('on'), ratio: mean('off') / mean('on') };
};
