import { beforeAll, expect, test } from 'vitest';
import { newApplication, newMachine, newProxy, newSeller, type Seller } from './support/application.ts';
import { codeOf } from './support/documentation.ts';
import { cut, pass } from './support/proxy.ts';

// The documented code of applications whose first activation fails gets them their license without a person.

let seller: Seller;
beforeAll(async () => {
  seller = await newSeller({ max_activations: 1 });
});

/** A license whose one seat another machine has. */
const sellTaken = async () => {
  const license = await seller.sell();
  const other = newApplication(seller, await newProxy(), newMachine());
  await other.activate(license.license_key);
  return { licenseKey: license.license_key, free: () => other.deactivate() };
};

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...parts: string[]
) => (...values: unknown[]) => Promise<unknown>;

/** Runs code with these globals. */
const run = (code: string, globals: Record<string, unknown>) =>
  new AsyncFunction(...Object.keys(globals), code)(...Object.values(globals));

test('a container that starts without the network, and then finds no seat, is licensed once one is free', async () => {
  const { licenseKey, free } = await sellTaken();
  const proxy = await newProxy();
  const lines: unknown[] = [];
  const timers: (() => Promise<void>)[] = [];
  proxy.behavior = cut;
  await run(codeOf('docs/applications.md', 'ORRERY_LICENSE_KEY'), {
    license: newApplication(seller, proxy, newMachine()),
    process: { env: { ORRERY_LICENSE_KEY: licenseKey }, once: () => {} },
    console: { log: (_label: string, code: string) => lines.push(code) },
    setTimeout: (retry: () => Promise<void>) => timers.push(retry),
  });
  proxy.behavior = pass;
  await timers.pop()?.();
  await free();
  await timers.pop()?.();
  expect([lines, timers]).toEqual([['inconclusive', 'no_seat', 'valid'], []]);
});

test('a build that replaces another licensing service’s activates at a later start if the first one couldn’t', async () => {
  const { licenseKey, free } = await sellTaken();
  const [proxy, machine] = [await newProxy(), newMachine()];
  const start = async () => {
    const license = newApplication(seller, proxy, machine);
    await run(codeOf('docs/moving-from.md', 'readOldKey'), { license, readOldKey: () => licenseKey });
    await license.stop();
    return license.state.valid;
  };
  proxy.behavior = cut;
  expect(await start()).toBe(false);
  proxy.behavior = pass;
  expect(await start()).toBe(false);
  await free();
  expect(await start()).toBe(true);
});
