import { marginOf } from '../../src/gate/rules/usage.ts';
import { ACCOUNT, createAccount, LICENSES, NODES } from './account.ts';
import { type Ask, openCallers } from './callers.ts';
import type { Edit, Start } from './machine/load.ts';
import type { SimulatedObject } from './machine/objects.ts';
import { openPlans, type Plans, PLAN_SCALE } from './plans.ts';
import { Broken } from './promises/broken.ts';
import { openPromises } from './promises/promises.ts';
import { openSeller } from './seller.ts';
import { HOME, openWorld } from './world.ts';

/** Smaller numbers than those of the service, so that a schedule of a few minutes reaches them. */
export const SCALE: Edit[] = [
  ...PLAN_SCALE,
  // The rate limits are shared by what is asked, whatever is left, so that a wrong share shows with few calls.
  { file: 'src/gate/rules/limits.ts', find: 'const HEADROOM = 4;', replace: 'const HEADROOM = 1e6;' },
  {
    file: 'src/gate/rules/limits.ts',
    find: 'if (asked === 0) return least;',
    replace: 'if (asked === 0) return allAsked === 0 ? equal : least;',
  },
  {
    file: 'src/gate/home/branch-store.ts',
    find: 'const LOG_LENGTH = 1_000;',
    replace: 'const LOG_LENGTH = 4;',
  },
];

export interface Conditions {
  seed: number;
  /** How long before the end of a month the simulation begins. */
  beforeMonthEndMs: number;
  /** How much faster than the real time the clocks are. */
  drift: Partial<Record<string, number>>;
  plans: Plans;
}

const MONTH_END = Date.UTC(2026, 11, 1);
const MID_MONTH_MS = 15 * 86_400_000;
/** Branches close after a quarter of an hour without a call. */
const REST_MS = 17 * 60_000;
/** A branch that has not heard of its opening is given up after a day. */
const GONE_MS = 25 * 3_600_000;

/** A service with an account, its callers and its seller, and everything that is promised to them. */
export const openSimulation = (
  start: Start,
  { seed, beforeMonthEndMs, drift, plans }: Conditions,
  { story = null, hasOutputGate = true }: { story?: string[] | null; hasOutputGate?: boolean } = {},
) => {
  const startMs = MONTH_END - Math.min(beforeMonthEndMs, MID_MONTH_MS);
  const world = openWorld({
    start,
    seed,
    startMs,
    driftOf: (kind) => drift[kind] ?? 0,
    story,
    hasOutputGate,
  });
  const { time, network, objects } = world;
  world.d1.exec(createAccount('free'));
  const accountPlans = openPlans(plans, startMs);
  const monthEndsMs = beforeMonthEndMs === Infinity ? Infinity : MONTH_END;
  const promises = openPromises(world, accountPlans, monthEndsMs);
  const callers = openCallers(world, promises);
  const seller = openSeller(world, promises, callers, accountPlans);

  const pass = async (ms: number, check = () => {}) => {
    const untilMs = time.nowMs() + ms;
    while (await time.step(untilMs)) {
      check();
      promises.assert();
    }
    promises.assert();
  };

  /** Lets time pass until something is done that a caller or the seller waits for. */
  const until = async <T>(work: () => Promise<T>): Promise<T> => {
    const result: { value?: T; isDone: boolean } = { isDone: false };
    await time.turn(() => {
      void work().then((value) => Object.assign(result, { value, isDone: true }));
    });
    const limitMs = time.nowMs() + 10 * 60_000;
    while (!result.isDone) {
      if (!(await time.step(limitMs))) throw new Broken('A caller waits forever.');
      promises.assert();
    }
    return result.value as T;
  };

  /** Begins something that nobody waits for. */
  const begin = (work: () => unknown) => time.turn(() => void work());

  const each = (kind: string, work: (object: SimulatedObject) => void) =>
    time.turn(() => {
      for (const object of objects.ofKind(kind)) work(object);
    });

  const statistics = () =>
    until(async () => {
      const { shipped, env } = world.isolateIn(HOME);
      const gate = shipped.gateOf(env, ACCOUNT);
      return { counts: await gate.statistics('2026-01-01'), regions: await gate.regionStatistics(null) };
    });

  /** Calls until a call is refused, and expects that so much of the limit is counted by then. */
  const exhaust = async (ask: Ask, most: (limit: number) => number) => {
    for (let isRefused = false; !isRefused; await pass(100)) {
      const answer = await until(() => callers.ask(ask));
      isRefused = answer?.refused === 'usage_limit_exceeded';
    }
    const { counts } = await statistics();
    const { apiUsage, apiLimit } = counts;
    promises.check(
      apiUsage >= most(apiLimit),
      () => `calls are refused at the usage ${apiUsage} of ${most(apiLimit)}`,
    );
  };

  /** Returns a license whose key callers know. The answer to a rotation may have been lost. */
  const findKnown = async (): Promise<number | undefined> => {
    for (const license of LICENSES.keys()) {
      const answer = await until(() => callers.ask({ region: HOME, license }));
      if (answer?.refused === null && answer.verdict.status !== 'not_found') return license;
    }
    return undefined;
  };

  /** Uses up the limit, and then what a machine that has a seat may use beyond it. */
  const exhaustAll = async () => {
    const license = await findKnown();
    if (license === undefined) return;
    const customer: Ask = { region: HOME, license: NODES, machine: 'm0' };
    const activated = await until(() => callers.ask({ ...customer, call: 'activate' }));
    await exhaust({ region: HOME, license }, (limit) => limit);
    if (activated?.refused === null && activated.verdict.valid)
      await exhaust(customer, (limit) => limit + marginOf(limit));
  };

  const heal = () =>
    begin(() => {
      network.heal();
      network.release();
      network.setWeather({ loss: 0, slow: 0 });
      objects.endReplaced();
    });

  return {
    world,
    callers,
    seller,
    promises,
    pass,
    begin,
    ask: (ask: Ask) => until(() => callers.ask(ask)),

    crash: (kind: string) => each(kind, (object) => objects.end(object, 'it crashes')),
    replace: (kind: string, from: string) => each(kind, (object) => objects.replace(object, from)),
    setClock: (kind: string, byMs: number) => each(kind, (object) => objects.setClock(object, byMs)),

    /** Heals everything, lets it come to rest, and checks what must hold then. */
    finish: async (isExhausted: boolean) => {
      await heal();
      // The month that ends is over before the rest begins.
      const monthMs = beforeMonthEndMs === Infinity ? 0 : Math.max(0, MONTH_END - time.nowMs());
      await pass(monthMs + 60_000);
      if (isExhausted) await exhaustAll();
      const left = world.unanswered();
      promises.check(left.length === 0, () => `${left.join(' and ')} is not answered`);
      await pass(REST_MS);
      const work = objects.alarms() + world.callCount();
      await pass(GONE_MS, () => {
        const isIdle = objects.alarms() + world.callCount() - work < 5;
        promises.check(isIdle, () => 'an account works that nobody calls');
      });
      await until(() => seller.toggle(0));
      await pass(60_000);
      const { counts, regions: known } = await statistics();
      promises.check(known.branches.length === 0, () => 'a branch is still open');
      promises.checkEnd(counts);
      promises.assert();
    },
  };
};

export type Simulation = ReturnType<typeof openSimulation>;
