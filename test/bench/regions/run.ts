// `npm run bench:regions`: compares verify from ten regions, with its home only and with branches, in a simulated network.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REGIONS } from '../../../src/shared/rules/regions.ts';
import { buildWorker, fixturePath, liftAccountRate, SERVICE_CONFIG } from '../build.ts';
import { type Load, startLoad } from '../load/load.ts';
import { machine, machineLine } from '../machine.ts';
import { silenceWorkerd, stopAll } from '../runtime.ts';
import { measureChanges, measureCut, openBranches, openChanged } from './change-stage.ts';
import { countIdle, measureCosts } from './cost-stage.ts';
import { measureHome } from './home-stage.ts';
import { measureLatency, type Worlds } from './latency-stage.ts';
import { ratiosOf, resultTable } from './report.ts';
import { FAR, keepCalling, openBranch, openLicensed, setNetwork, startWorld } from './world.ts';

const NOTES = `The home is in enam. In the simulated network, a call between regions takes the round trip that was measured
in production, a call within a region 15 ms, and a commit 12 ms. D1 is not delayed. One connection unless a line says more.`;

const { values: options } = parseArgs({
  options: { json: { type: 'string' }, quick: { type: 'boolean', default: false } },
});
const ROUNDS = options.quick ? { latency: 1, changes: 5, home: 3 } : { latency: 2, changes: 15, home: 100 };

process.env['WRANGLER_LOG'] = 'none';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-regions-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
silenceWorkerd(folder);

const step = (what: string) => console.log(`… ${Math.round(performance.now() / 1_000)} s: ${what}`);

const bundleOf = (fixture: string) =>
  liftAccountRate(buildWorker(SERVICE_CONFIG, join(folder, `${fixture}-bundle`), fixturePath(fixture)));

const bench = async (load: Load) => {
  step('building');
  const network = bundleOf('network');
  const located = bundleOf('located');
  step('seeding');
  const openWorlds = async (bundle: typeof network, name: string, keys: number, licenses: number) => {
    const open = async (regions: 'on' | 'off') => {
      const service = await startWorld(bundle, folder, `${name}-${regions}`, regions);
      if (bundle === network) await setNetwork(service, { isSlow: false });
      return { service, account: await openLicensed(service, 'busy@example.com', keys, licenses) };
    };
    return { off: await open('off'), on: await open('on') } satisfies Worlds;
  };
  const worlds = await openWorlds(network, 'network', 4, 20);
  const { off, on } = worlds;
  const changed = await openChanged(on.service);
  step('opening branches');
  await setNetwork(off.service, { isSlow: true });
  await setNetwork(on.service, { isSlow: true });
  await Promise.all(FAR.map((region) => openBranch(on.service, region, on.account)));
  for (const account of changed) await openBranches(on.service, account);
  const busiest = changed.at(-1);
  if (!busiest) throw new Error('There is no account with branches.');
  const endCalls = keepCalling(on.service, REGIONS, on.account);
  step('verify from ten regions');
  const latency = await measureLatency(load, worlds, ROUNDS.latency);
  await endCalls();
  step('rows');
  const costs = await measureCosts(load, worlds);
  const endOtherCalls = keepCalling(on.service, REGIONS, busiest);
  step('suspend');
  const changes = await measureChanges(on.service, changed, ROUNDS.changes);
  // A verify of the changed license needs home, and a Worker passes over a branch that can't reach home.
  await endOtherCalls();
  step('a region cut off');
  const cut = await measureCut(on.service, busiest);
  step('verify without branches');
  const homes = await openWorlds(located, 'located', 16, 200);
  const measuring = measureHome(load, homes, ROUNDS.home);
  const idle = await countIdle(on, FAR.length, measuring);
  return { latency, changes, cut, costs: { ...costs, ...idle }, home: await measuring };
};

const load = startLoad();
try {
  const figures = await bench(load);
  const on = machine();
  console.log(`\n${machineLine(on)}\n${NOTES}\n\n${resultTable(figures)}`);
  for (const wrong of load.wrong()) console.error(`✗ unexpected responses: ${wrong}`);
  if (options.json !== undefined) {
    const json = { ratios: ratiosOf(figures), machine: on, network: 'simulated network', ...figures };
    writeFileSync(options.json, `${JSON.stringify(json, null, 2)}\n`);
  }
  process.exitCode = load.wrong().length === 0 ? 0 : 1;
} finally {
  await load.stop();
  await stopAll();
}
process.exit();
