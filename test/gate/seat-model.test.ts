import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { openAnnounced } from '../../src/gate/home/announced.ts';
import { openMachineTotals } from '../../src/gate/home/machine-rows.ts';
import { openMachines } from '../../src/gate/home/machines.ts';
import { openSeats } from '../../src/gate/home/seats.ts';
import { openSeller } from '../../src/gate/home/seller.ts';
import { openLedger } from '../../src/gate/object/ledger.ts';
import { openOutgoing } from '../../src/gate/object/outgoing.ts';
import { openSeatClock } from '../../src/gate/object/seat-clock.ts';
import type { CopiedLicense } from '../../src/gate/rules/rows.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import type { Terms } from '../../src/shared/rules/terms.ts';
import type { CallName, Verdict } from '../../src/shared/rules/verdict.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { machineOf } from '../support/activations.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { COPIED_ACCOUNT } from '../support/gate.ts';
import { openSeatModel } from './seat-model.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 22);
/** Whole minutes, so that time often stops at the very end of a lease. Longer than a restart of the gate may forget. */
const TIME_STEPS = [
  MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  DAY_MS,
  8 * DAY_MS,
  31 * DAY_MS,
  -HOUR_MS,
  -2 * DAY_MS,
];
const MACHINES = 4;

const machine = fc.nat(MACHINES - 1);
const terms = fc.record({
  maxActivations: fc.constantFrom(null, 1, 1, 2, 2, 3),
  leaseSeconds: fc.constantFrom(null, null, 60, 3_600, 86_400),
  offlineDays: fc.constantFrom(0, 14),
  maxTransfers: fc.constantFrom(null, null, 0, 1),
  selfService: fc.boolean(),
  graceDays: fc.constant(0),
  entitlements: fc.constant({}),
}) satisfies fc.Arbitrary<Terms>;

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      call: fc.constantFrom<CallName[]>('verify', 'activate', 'activate', 'heartbeat', 'deactivate'),
      machine: fc.option(machine, { freq: 20 }),
      leaseSeconds: fc.constantFrom(undefined, undefined, 60, 7_200, 31 * 86_400),
      replace: fc.option(machine, { nil: undefined, freq: 2 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(...TIME_STEPS) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('terms' as const), terms }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'evict' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('suspend' as const), suspended: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('release' as const), machine, force: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('file' as const),
      machine: fc.option(machine, { freq: 10 }),
      days: fc.constantFrom(1, 9),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const fingerprintOf = (n: number | null) => (n === null ? undefined : machineOf(n));

/** Opens the gate's parts on a license of its own. `take` makes a step and compares its result with the model's. */
const openRun = (ctx: DurableObjectState, firstTerms: Terms) => {
  const { sql, kv } = ctx.storage;
  const model = openSeatModel(firstTerms);
  let license: CopiedLicense = {
    id: newId('lic'),
    licenseKey: 'L-1',
    customerEmail: 'ada@example.com',
    status: 'active',
    expiresAt: null,
    product: null,
    terms: {},
    updatesUntil: null,
  };
  // A run that failed has left its events.
  sql.exec('DELETE FROM outgoing');
  const outgoing = openOutgoing(sql);
  const copy = {
    account: () => COPIED_ACCOUNT,
    termsOf: () => model.terms,
    findLicense: () => license,
    license: () => license,
  };
  const ledger = openLedger(sql, outgoing.kept);
  const journal = { write: <T>(fn: () => T): T => ctx.storage.transactionSync(fn), commit: async () => {} };
  const open = () => {
    const machineTotals = openMachineTotals(sql);
    const store = {
      copy,
      machines: openMachines(sql, machineTotals),
      machineTotals,
      ledger,
      announced: openAnnounced(kv),
      outgoing,
      seatClock: openSeatClock(kv, journal),
    };
    const branches = { log: () => {}, acknowledged: async () => {} };
    const seats = openSeats({ journal }, store, branches);
    const catchUp = { ensureKnown: async () => true };
    const seller = openSeller({ journal }, store, seats, branches, catchUp);
    return { seats, seller, seatClock: store.seatClock };
  };
  let home = open();
  let wallMs = Math.max(START_MS, openSeatClock(kv, journal).read(0));
  vi.setSystemTime(wallMs);
  home.seatClock.read(wallMs);

  const runCall = (taken: Extract<Step, { kind: 'call' }>): [actual: unknown, expected: unknown] => {
    const { call, leaseSeconds } = taken;
    const replaced = taken.replace ?? null;
    const input = {
      license_key: 'L-1',
      fingerprint: fingerprintOf(taken.machine),
      lease_seconds: leaseSeconds,
      replace: replaced === null ? undefined : (model.idOf(replaced) ?? 'act_unknown'),
    };
    const { code, valid } = home.seats.verdictOn(
      { name: call, input, isPlain: false },
      license,
      wallMs,
    ) as Verdict;
    expect(valid).toBe(code === 'valid');
    const expected = model.call(call, taken.machine, { leaseSeconds, replaced });
    // The gate notes counted calls once an hour, so a heartbeat may be told up to an hour early to verify.
    if (code === 'verify_due' && expected.isAlmostDue) return [code, code];
    return [code, expected.apply()];
  };

  const run = async (taken: Step): Promise<[actual: unknown, expected: unknown]> => {
    switch (taken.kind) {
      case 'time':
        wallMs += taken.ms;
        vi.setSystemTime(wallMs);
        break;
      case 'terms':
        model.terms = taken.terms;
        break;
      case 'suspend':
        license = { ...license, status: taken.suspended ? 'suspended' : 'active' };
        model.isSuspended = taken.suspended;
        break;
      case 'evict':
        home = open();
        return [openSeatClock(kv, journal).read(0), model.nowMs];
      case 'release': {
        const id = model.idOf(taken.machine);
        if (id === null) return [null, null];
        return [await home.seller.release('L-1', id, taken.force), model.release(taken.machine, taken.force)];
      }
      case 'file': {
        const fingerprint = fingerprintOf(taken.machine);
        const file = await home.seller.issueFile({ licenseKey: 'L-1', fingerprint, days: taken.days });
        return [file?.refused ?? 'valid', model.holdForFile(taken.machine, taken.days)];
      }
      case 'call':
        return runCall(taken);
    }
    return [null, null];
  };

  return {
    take: async (taken: Step) => {
      model.see(wallMs);
      const [actual, expected] = await run(taken);
      expect([taken, actual]).toEqual([taken, expected]);
      model.see(wallMs);
      const page = await home.seller.list('L-1', 100, null);
      const { machines = [], seats } = page ?? {};
      for (const { fingerprint, id, seat } of machines)
        model.adopt(Number(fingerprint.slice(-4)), id, seat.leaseUntilMs);
      expect(machines.map(({ fingerprint }) => fingerprint).toSorted()).toEqual(
        model.holders().map(machineOf).toSorted(),
      );
      const { maxActivations: limit } = model.terms;
      expect(seats).toEqual(limit === null ? null : { used: machines.length, limit });
    },

    /** Returns what the gate has sent and what the model expects. */
    events: () => {
      const sent: string[] = [];
      for (let batch = outgoing.next(); batch; batch = outgoing.next()) {
        for (const { name, payload } of JSON.parse(batch.events) as { name: string; payload: string }[]) {
          if (name !== 'activation.refused')
            sent.push(`${name} ${(JSON.parse(payload) as { activation_id: string }).activation_id}`);
        }
        outgoing.remove(batch);
      }
      return { sent, expected: model.events() };
    },
  };
};

test('seats are as in a plain model, through any calls, new terms, restarts and steps of the clock', () =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, ctx) => {
    useFakeClock();
    await fc.assert(
      fc.asyncProperty(
        terms,
        fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
        async (firstTerms, steps) => {
          const run = openRun(ctx, firstTerms);
          for (const taken of steps) await run.take(taken);
          const { sent, expected } = run.events();
          expect(sent).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  }));
