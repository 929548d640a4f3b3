import type { Statistics } from '../../../src/gate/rules/usage.ts';
import type { World } from '../world.ts';
import type { Answer, Asked } from './asked.ts';
import { Broken, type Check } from './broken.ts';
import { openCounts } from './counts.ts';
import { openEvents } from './events.ts';
import { openRates } from './rates.ts';
import { openSeats } from './seats.ts';
import { openVersions } from './versions.ts';

interface Promised {
  /** The usage limit of a version of the account. */
  limitOf: (version: number) => number;
  callsPerSecondAt: (version: number) => number;
  monthEndsMs: number;
}

/** Compares everything that callers and the seller are answered with what the service promises. */
export const openPromises = (world: World, { limitOf, callsPerSecondAt, monthEndsMs }: Promised) => {
  const { time } = world;
  let broken: Broken | null = null;
  const check: Check = (isKept, message) => {
    if (isKept || broken) return;
    broken = new Broken(message());
    world.log(() => `BROKEN: ${broken?.message}`);
  };
  const versions = openVersions(check, limitOf);
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
      const accounts = versions.accountVersions(asked);
      versions.answered(asked, reply);
      counts.answered(asked, reply, nowMs, Math.max(...accounts.map(limitOf)));
      rates.answered(asked, reply, nowMs, Math.max(...accounts.map(callsPerSecondAt)));
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
