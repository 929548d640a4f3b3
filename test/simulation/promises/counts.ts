import { isCounted } from '../../../src/gate/rules/seats.ts';
import type { Statistics } from '../../../src/gate/rules/usage.ts';
import { calendarMonth, marginOf } from '../../../src/gate/rules/usage.ts';
import type { World } from '../world.ts';
import type { Answer, Asked } from './asked.ts';
import type { Check } from './broken.ts';
import { openTally } from './tally.ts';

// Calls that are admitted never pass the usage limit, except those of customers' machines, which never pass 125% of it. The
// counts add up to what was answered, and unknown license keys count nothing.

/** Clocks differ by less, so it isn't known in which month a call counts that is this near to its end. */
const NEAR_MS = 15_000;

/** What was answered of the calls of one month. */
interface Month {
  admitted: number;
  /** The usage that was last shown, by the region that has shown it. */
  shown: Map<string, number>;
}

const newMonth = (): Month => ({ admitted: 0, shown: new Map() });
const copyOf = ({ admitted, shown }: Month): Month => ({ admitted, shown: new Map(shown) });

/** `monthEndsMs` is when a month ends within the simulation. */
export const openCounts = (world: World, check: Check, monthEndsMs: number) => {
  const months = [newMonth(), newMonth()] as const;
  const monthsAtStart = new Map<string, [Month, Month]>();
  const verifies = openTally(world, check, 'counted verifies');
  const creates = openTally(world, check, 'counted creates');
  /** Machines that may have held a seat. */
  const customers = new Set<string>();
  const machineOf = ({ license, machine }: Asked) => `${license} ${machine}`;

  const isIn = (month: 0 | 1, fromMs: number, toMs: number) =>
    month === 0 ? toMs < monthEndsMs - NEAR_MS : fromMs > monthEndsMs + NEAR_MS;

  return {
    /** Licenses that an API key creates. */
    creates,

    began: (asked: Asked) => {
      const { name, call, machine } = asked;
      if (isCounted(call)) verifies.began(name);
      if (call === 'activate' && machine !== null) customers.add(machineOf(asked));
      monthsAtStart.set(name, [copyOf(months[0]), copyOf(months[1])]);
    },

    answered: (asked: Asked, reply: Answer, nowMs: number, limit: number) => {
      const { name, call, begunMs } = asked;
      const counts = isCounted(call) && reply.refused === null && reply.verdict.status !== 'not_found';
      if (isCounted(call)) verifies.answered(name, counts);
      if (reply.refused !== null) return;
      const most = limit + marginOf(limit);
      const { apiUsage } = reply;
      const region = `${reply.region}${reply.branch === reply.region ? ' (branch)' : ''}`;
      for (const i of [0, 1] as const) {
        const [month, before] = [months[i], monthsAtStart.get(name)?.[i] ?? newMonth()];
        if (!isIn(i, begunMs, nowMs)) continue;
        // The count of a create that fails is taken back.
        const shownBefore = (before.shown.get(region) ?? 0) - creates.open();
        check(
          apiUsage >= shownBefore,
          () => `${name} shows the usage ${apiUsage} in ${region} after ${shownBefore}`,
        );
        month.shown.set(region, Math.max(month.shown.get(region) ?? 0, apiUsage));
        if (!counts) continue;
        month.admitted++;
        check(
          before.admitted < (customers.has(machineOf(asked)) ? most : limit),
          () => `${name} is admitted after ${before.admitted} of ${limit} calls`,
        );
        check(month.admitted <= most, () => `${month.admitted} of ${most} calls are admitted`);
      }
    },

    checkEnd: ({ days, apiUsage, period }: Statistics) => {
      const sum = (call: 'verify' | 'create') => days.reduce((total, day) => total + day[call], 0);
      const [verified, created] = [sum('verify'), sum('create')];
      verifies.check(verified);
      creates.check(created);
      if (monthEndsMs !== Infinity) return;
      const counted = verified + created;
      // An upgrade, which starts a month of its own, also carries over what branches may have counted.
      const hasUpgraded = calendarMonth(period.startMs).startMs !== period.startMs;
      const isRight = hasUpgraded ? apiUsage >= counted : apiUsage === counted;
      check(isRight, () => `the usage is ${apiUsage}, and ${counted} calls are counted`);
    },
  };
};
