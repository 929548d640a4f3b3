import type { Statistics } from '../../../src/gate/rules/usage.ts';
import type { AccountPlans } from '../plans.ts';
import type { World } from '../world.ts';
import type { Answer, Asked } from './asked.ts';
import { Broken, type Check } from './broken.ts';
import { openCounts } from './counts.ts';
import { openEvents } from './events.ts';
import { openRates } from './rates.ts';
import { openSeats } from './seats.ts';
import { openVersions } from './versions.ts';

/** Compares everything that callers and the seller are answered with what the service promises. */
export const openPromises = (world: World, plans: Pick<AccountPlans, 'of'>, monthEndsMs: number) => {
  const { time } = world;
  let broken: Broken | null = null;
  const check: Check = (isKept, message) => {
    if (isKept || broken) return;
    broken = new Broken(message());
    world.log(() => `BROKEN: ${broken?.message}`);
  };
  const versions = openVersions(check);
  const counts = openCounts(world, check, monthEndsMs);
  const rates = openRates(check, world.forgottenMs);
  const seats = openSeats(check, world.homeMs);
  const events = openEvents(world, check);

  return {
    check,
    versions,
    counts,
    rates,
    seats,
    events,

    /** Throws if a promise was broken. */
    assert: () => {
      if (broken) throw broken;
      const [bug] = world.bugs;
      if (bug) throw bug;
    },

    began: (asked: Asked) => {
      for (const part of [counts, seats, events]) part.began(asked);
    },

    answered: (asked: Asked, reply: Answer) => {
      const nowMs = time.nowMs();
      const possible = versions
        .accountVersions(asked)
        .flatMap((version) => plans.of(version, asked.begunMs, nowMs));
      const limits = possible.map(({ apiLimit }) => apiLimit);
      versions.answered(asked, reply, limits);
      counts.answered(asked, reply, nowMs, Math.max(...limits));
      rates.answered(asked, reply, nowMs, Math.max(...possible.map(({ callsPerSecond }) => callsPerSecond)));
      seats.answered(asked, reply, nowMs);
      events.answered(asked, reply);
    },

    checkEnd: (statistics: Statistics) => {
      counts.checkEnd(statistics);
      rates.checkEnd();
      events.checkEnd(world.events);
    },
  };
};

export type Promises = ReturnType<typeof openPromises>;
