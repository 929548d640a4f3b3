import { expect } from 'vitest';
import { until } from './fake-time.ts';
import { setUp } from './setup.ts';

/** A license that has started and verified, with what the schedule does next. */
export const setUpStarted = async (leaseMs: number | null, options = {}) => {
  const world = await setUp();
  world.service.terms.leaseMs = leaseMs;
  await world.activate(options);
  const license = world.create(options);
  await license.start();
  await world.time.drive(license.refresh());
  world.service.requests.length = 0;
  const calls = async (...paths: string[]) => {
    await until(() => world.service.requests.length >= paths.length, 'The calls were not made.');
    expect(world.service.paths()).toEqual(paths);
    // A call that runs already is shared, so this only waits for its end.
    await until(() => world.time.pending().length === 0);
    await world.time.drive(license.refresh());
    world.service.requests.length = 0;
  };
  return { ...world, license, calls };
};
