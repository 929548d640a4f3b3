// What the feature costs an account without branches, with real conditions: no simulated delays.
import type { Load } from '../load/load.ts';
import { type Figure, measure } from '../rounds.ts';
import { median } from '../rounds.ts';
import type { Worlds } from './latency-stage.ts';
import { verifyTarget } from '../targets.ts';

const SLICE = { connections: 64, calls: Infinity, durationMs: 1_000 };

export interface HomeFigures {
  off: Figure;
  on: Figure;
  /** The median of the rounds' ratios, because other work on the machine affects both halves of a round. */
  ratio: number;
}

export const measureHome = async (load: Load, { off, on }: Worlds, rounds: number): Promise<HomeFigures> => {
  const figures = await measure(
    load,
    [
      verifyTarget('off', off.service.runtime, off.account),
      verifyTarget('on', on.service.runtime, on.account),
    ],
    SLICE,
    rounds,
  );
  if (!figures['off'] || !figures['on']) throw new Error('There are no figures.');
  const { off: without, on: with_ } = figures as { off: Figure; on: Figure };
  const ratios = with_.rounds.map(
    ({ callsPerSecond }, round) => callsPerSecond / (without.rounds[round]?.callsPerSecond ?? Number.NaN),
  );
  return { off: without, on: with_, ratio: median(ratios) };
};
