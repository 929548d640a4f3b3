// All measurements of one run, in the order in which they affect each other least.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildWorker, fixturePath, liftAccountRate, SERVICE_CONFIG } from './build.ts';
import { measureCounts } from './count-stage.ts';
import { measureLists } from './list-stage.ts';
import type { Load } from './load/load.ts';
import { machine, machineLine } from './machine.ts';
import { measureMemory } from './memory-stage.ts';
import type { Options } from './options.ts';
import { countListReads, countSeatReads } from './read-stage.ts';
import { openSilentReceiver } from './receiver.ts';
import { bundleFixture, startFixtures } from './references.ts';
import { costs, remarks } from './remarks.ts';
import { ratiosOf, resultTable } from './report.ts';
import { heartbeatCosts } from './seat-report.ts';
import { countHeartbeats, measureSeats } from './seat-stage.ts';
import { seedBig, seedSmall } from './seed.ts';
import { openPlace, start } from './service.ts';
import { measureStart } from './start-stage.ts';
import { measureVerify } from './verify-stage.ts';
import { measureWebhooks } from './webhook-stage.ts';

const NOTES = `Every Worker has its own runtime and direct socket, without the static assets router. The service
writes its log to /dev/null. The webhook receiver never responds: while verify is measured, events are written and
forwarded to the outbox, and six requests at a time wait for a response.`;

export const bench = async (folder: string, load: Load, options: Options): Promise<void> => {
  const step = (what: string) => console.log(`… ${Math.round(performance.now() / 1_000)} s: ${what}`);
  const receiver = await openSilentReceiver();
  try {
    step('building');
    const bundle = liftAccountRate(buildWorker(SERVICE_CONFIG, join(folder, 'service-bundle')));
    const counting = liftAccountRate(
      buildWorker(SERVICE_CONFIG, join(folder, 'probe-bundle'), fixturePath('probe')),
    );
    const smallPlace = openPlace(folder, 'small');
    const bigPlace = openPlace(folder, 'big');
    step(`seeding, ${options.licenses} licenses and ${options.keys} keys on the big account`);
    const accounts = await seedSmall(counting, smallPlace, receiver.url);
    const grown = await seedBig(counting, bigPlace, receiver.url, options);

    step('start-up');
    const starts = await measureStart(folder, bundle, bundleFixture(folder, 'empty'));
    const fixtures = await startFixtures(folder, accounts.busy);
    const small = await start(bundle, smallPlace);
    const big = await start(bundle, bigPlace);
    step('verify');
    const verify = await measureVerify({ load, options, fixtures, small, big, accounts, grown });
    step('seats');
    const seats = await measureSeats(load, options, small, accounts.unsubscribed);
    step('lists and searches');
    const lists = await measureLists(
      load,
      options,
      { service: small, account: accounts.single },
      { service: big, account: grown },
    );
    for (const { stop } of [...Object.values(fixtures), small, big]) await stop();

    step('counts');
    const counted = await start(counting, smallPlace);
    const counts = await measureCounts(load, counted, smallPlace.name, accounts.busy, accounts.unsubscribed);
    step('webhooks');
    const delivered = await measureWebhooks(load, counted, accounts.unsubscribed);
    step('heartbeats');
    const heartbeats = await countHeartbeats(load, counted, accounts.unsubscribed);
    step('rows read');
    const seatReads = await countSeatReads(load, counted, accounts.unsubscribed);
    await counted.stop();
    const countedBig = await start(counting, bigPlace);
    const listReads = await countListReads(countedBig, grown);
    await countedBig.stop();
    step('memory');
    const inspected = await start(bundle, bigPlace, true);
    const memory = await measureMemory(load, inspected, bigPlace, grown);
    await inspected.stop();

    const on = machine();
    console.log(
      `\n${machineLine(on)}\n${options.rounds} rounds of ${options.sliceMs / 1_000} s, medians. ${NOTES}\n`,
    );
    console.log(`${resultTable(verify, lists, counts, delivered, memory, seats, heartbeats)}\n`);
    console.log(remarks({ verify, counts, delivered, seatReads, listReads, memory, bundle, starts, grown }));
    if (options.json === null) return;
    const { lazyBytes, bytes, gzippedBytes } = bundle;
    const { rows, insertSeconds, loadSeconds } = grown;
    const figures = {
      ratios: ratiosOf(verify, lists, seats),
      machine: on,
      options,
      verify,
      seats,
      lists,
      counts,
      delivered,
      heartbeats,
      reads: { seats: seatReads, lists: listReads },
      costs: { ...costs(counts, delivered, verify), heartbeats: heartbeatCosts(heartbeats, seats) },
      memory,
      script: { bytes, gzippedBytes, lazyBytes },
      starts,
      bigAccount: { rows, insertSeconds, loadSeconds },
    };
    writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
  } finally {
    receiver.close();
  }
};
