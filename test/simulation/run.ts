import { BRANCHES, FLOAT, LICENSES, NODES, REGIONS } from './account.ts';
import type { Start } from './machine/load.ts';
import { type Schedule, type Step } from './schedule.ts';
import { openSimulation, type Simulation } from './simulation.ts';

const MACHINES: Partial<Record<number, string>> = { [NODES]: 'm0', [FLOAT]: 'm1' };

/** Calls that open a branch, see `REGIONS_OPEN_AFTER`. */
const OPENING_CALLS = 3;

/** Opens the branches, and lets them copy all licenses. */
const warmUp = async ({ ask, pass }: Simulation) => {
  for (const region of BRANCHES) for (let i = 0; i < OPENING_CALLS; i++) await ask({ region });
  await pass(1_500);
  for (const region of BRANCHES) {
    // The answer says that the branch is open.
    await ask({ region });
    for (const license of LICENSES.keys()) {
      const machine = MACHINES[license] ?? null;
      if (machine) await ask({ region, call: 'activate', license, machine });
      await ask({ region, license, machine });
    }
  }
};

const times = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);

const take = async (simulation: Simulation, step: Step): Promise<void> => {
  const { world, callers, seller, begin, crash } = simulation;
  const { network } = world;
  switch (step.does) {
    case 'verify':
      return begin(() => Promise.all(times(step.times ?? 1, () => callers.ask(step))));
    case 'seat':
      return begin(() => callers.ask(step));
    case 'flood':
      return begin(() =>
        Promise.all(REGIONS.flatMap((region) => times(step.times, () => callers.ask({ region })))),
      );
    case 'toggle':
      return begin(() => seller.toggle(step.license));
    case 'rotate':
      return begin(() => seller.rotate(step.license));
    case 'change':
      return begin(seller[step.what]);
    case 'deleteKey':
      return begin(() => seller.deleteKey(step.key));
    case 'release':
      return begin(() => seller.release(step.license, step.machine));
    case 'move':
      return begin(() => seller.move(step.region));
    case 'pass':
      return simulation.pass(step.ms);
    case 'crash':
      return crash(step.kind);
    case 'restart':
      return world.restartIsolate(step.region);
    case 'replace':
      return simulation.replace(step.kind, step.from);
    case 'setClock':
      return simulation.setClock(step.kind, step.ms);
    case 'cut':
      return void network.cut(...step.link);
    case 'strand':
      network.cut('home', step.branch);
      await begin(() => seller.toggle(step.license));
      await simulation.pass(1_000);
      if (step.crashes) await crash('home');
      return simulation.pass(33_000);
    case 'heal':
      return begin(network.heal);
    case 'letGo':
      return begin(network.release);
    case 'fault':
      return void network.plan(step.fault);
    case 'set':
      world.set(step.settings);
      return crash('home');
  }
};

/** Runs a schedule. Throws `Broken` if a promise is broken, with the story of how. */
export const runSchedule = async (start: Start, schedule: Schedule, options = {}): Promise<Simulation> => {
  const simulation = openSimulation(start, schedule, options);
  const { world, pass, finish } = simulation;
  if (schedule.isWarm) await warmUp(simulation);
  world.network.setWeather(schedule);
  for (const step of schedule.steps) {
    world.log(() => JSON.stringify(step));
    await take(simulation, step);
    // What has begun is under way, or done, when the next step comes.
    await pass(world.random.between(0, schedule.gapMs));
  }
  await finish(schedule.isExhausted);
  return simulation;
};
