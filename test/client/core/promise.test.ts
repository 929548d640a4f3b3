import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { License, LicenseState, Store } from '../../../src/client/core/types.ts';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { LICENSE_KEY, status } from '../support/fake-service.ts';
import { setUp } from '../support/setup.ts';

// What a paying customer may expect, whatever happens: within `offline_days` of a good answer, only a signed no locks out.
// The model knows only when there was a good answer, who knows of it, and at which times the application has run.

const OFFLINE_MS = 14 * DAY_MS;
const LEEWAY_MS = 300_000;

const NETWORKS = {
  good: null,
  down: () => {
    throw new TypeError('fetch failed');
  },
  'refused for a day': status(429, { 'retry-after': '86400' }),
  'over quota': status(429, { 'retry-after': '1728000' }),
  broken: status(500),
  forbidden: status(403),
  'a portal': () => new Response('<h1>Sign in to Wi-Fi</h1>', { headers: { 'retry-after': '86400' } }),
  'an unsigned no': () => Response.json({ valid: false, code: 'revoked', token: null }),
} as const;
const STORES = ['works', 'can’t be read', 'can’t be written', 'hangs'] as const;

const which = fc.nat(1);
const event = fc.oneof(
  fc.record({
    do: fc.constant('pass' as const),
    ms: fc.constantFrom(60_000, HOUR_MS, 20 * HOUR_MS, 4 * DAY_MS),
  }),
  fc.record({
    do: fc.constant('clock' as const),
    aheadMs: fc.constantFrom(
      0,
      0,
      0,
      -3 * 60_000,
      2 * HOUR_MS,
      -2 * HOUR_MS,
      20 * DAY_MS,
      -20 * DAY_MS,
      3_650 * DAY_MS,
    ),
  }),
  fc.record({
    do: fc.constant('network' as const),
    network: fc.constantFrom('good' as const, ...(Object.keys(NETWORKS) as (keyof typeof NETWORKS)[])),
  }),
  fc.record({ do: fc.constant('seller' as const), refuses: fc.boolean() }),
  fc.record({ do: fc.constant('store' as const), store: fc.constantFrom('works' as const, ...STORES) }),
  fc.record({ do: fc.constantFrom('refresh' as const, 'start' as const, 'activate' as const), which }),
  fc.record({ do: fc.constantFrom('restart' as const, 'crash' as const), which }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** A good answer: when it came, in true time, and by how much the clock was wrong then. */
interface Answer {
  atMs: number;
  aheadMs: number;
}

interface Process {
  license: License;
  /** A process that was killed writes no more. */
  isKilled: boolean;
  /** The last good answer that it has received or read. */
  known: Answer | null;
}

/** Returns how often the license had to be valid. */
const play = async (events: Event[]): Promise<number> => {
  let count = 0;
  const world = await setUp();
  const { time, service, store } = world;
  let aheadMs = 0;
  let faults: (typeof STORES)[number] = 'works';
  let stored: Answer | null = null;
  /** The times at which the application has run, as its clock may have shown them. */
  const seen: { atMs: number; clockMs: number }[] = [];
  const trueMs = () => time.nowMs - aheadMs;

  const open = (): Process => {
    const never = () => new Promise<never>(() => {});
    const fail = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
    const faulty: Store = {
      get: () => (faults === 'hangs' ? never() : faults === 'can’t be read' ? fail('EACCES') : store.get()),
      set: (text) => {
        if (process.isKilled) return never();
        return faults === 'hangs' ? never() : faults === 'can’t be written' ? fail('EROFS') : store.set(text);
      },
    };
    const process: Process = { license: world.create({ store: faulty }), isKilled: false, known: null };
    return process;
  };
  const processes = [open(), open()];

  const isReadable = () => faults === 'works' || faults === 'can’t be written';

  const observe = ({ known }: Process, { code }: LicenseState) => {
    if (!known) return;
    const endMs = known.atMs + OFFLINE_MS;
    const times = code === 'offline_expired' ? [endMs] : [time.nowMs, time.nowMs - known.aheadMs];
    for (const clockMs of times) if (clockMs <= endMs) seen.push({ atMs: trueMs(), clockMs });
  };

  /** What a call has told a process. */
  const learn = (process: Process, state: LicenseState, beforeMs: number | null) => {
    const { checkedAt, source, valid, code } = state;
    const isNew = source === 'network' && checkedAt !== null && checkedAt.getTime() !== beforeMs;
    if (isNew && valid) {
      process.known = { atMs: checkedAt.getTime(), aheadMs };
      if (faults === 'works') stored = process.known;
    } else if (source === 'network' && code === 'suspended') {
      for (const each of processes) each.known = null;
      stored = null;
    } else if (isReadable() && stored && process.known && stored.atMs > process.known.atMs) {
      process.known = stored;
    }
    observe(process, state);
  };

  const check = (process: Process) => {
    const { license, known } = process;
    const { state } = license;
    if (known) {
      const endMs = known.atMs + OFFLINE_MS;
      const seenMs = Math.max(...seen.filter(({ atMs }) => atMs >= known.atMs).map(({ clockMs }) => clockMs));
      const isAfter = (ms: number) => ms >= seenMs - LEEWAY_MS && ms < endMs;
      const isRight =
        (aheadMs === known.aheadMs && isAfter(time.nowMs - aheadMs)) ||
        (aheadMs === 0 && isAfter(time.nowMs));
      if (trueMs() < endMs && isRight) {
        count += 1;
        expect(state).toMatchObject({ valid: true, code: 'valid' });
      }
    }
    observe(process, state);
  };

  /** `start()` verifies in the background, and `refresh()` shares that verify. */
  const start = async (license: License) => {
    await license.start();
    return license.refresh();
  };

  const call = async (process: Process, run: (license: License) => Promise<LicenseState>) => {
    const beforeMs = process.license.state.checkedAt?.getTime() ?? null;
    await time.drive(run(process.license));
    // What timeouts took passes for the service, too.
    service.aheadMs = -aheadMs;
    learn(process, process.license.state, beforeMs);
  };

  for (const step of events) {
    if (step.do === 'pass') time.nowMs += step.ms;
    if (step.do === 'clock') {
      time.nowMs += step.aheadMs - aheadMs;
      aheadMs = step.aheadMs;
      service.aheadMs = -aheadMs;
    }
    if (step.do === 'network') service.always = NETWORKS[step.network];
    if (step.do === 'seller') {
      service.terms.statement = step.refuses ? { valid: false, code: 'suspended', status: 'suspended' } : {};
    }
    if (step.do === 'store') faults = step.store;
    const process = 'which' in step ? processes[step.which] : undefined;
    if (!process) {
      processes.forEach(check);
      continue;
    }
    if (step.do === 'refresh') await call(process, (license) => license.refresh());
    if (step.do === 'start') await call(process, start);
    if (step.do === 'activate') await call(process, (license) => license.activate(LICENSE_KEY));
    if (step.do === 'restart' || step.do === 'crash') {
      process.isKilled = step.do === 'crash';
      await time.drive(process.license.stop());
      Object.assign(process, open());
      process.known = isReadable() ? stored : null;
      await call(process, start);
    }
    processes.forEach(check);
  }
  await time.drive(world.stopAll());
  return count;
};

test('within offline_days of a good answer, only a signed no locks a paying customer out', async () => {
  const begin: Event[] = [{ do: 'activate', which: 0 }];
  // The seed is always the same, so more runs are worth their time only after a change of the client: CLIENT_RUNS=5000.
  const numRuns = Number(process.env['CLIENT_RUNS'] ?? 300);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 18 }), async (events) => {
      count += await play([...begin, ...events]);
    }),
    { seed: 20_261_122, numRuns },
  );
  expect(count).toBeGreaterThan(5 * numRuns);
});
