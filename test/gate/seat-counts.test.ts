import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MACHINE_BYTES, openMachineTotals } from '../../src/gate/home/machine-rows.ts';
import { openMachines } from '../../src/gate/home/machines.ts';
import { GATE_TABLES } from '../../src/gate/home/store.ts';
import { FOREVER_MS } from '../../src/gate/rules/seats.ts';
import { migrateObject } from '../../src/shared/objects/migrations.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { NO_TERMS } from '../../src/shared/rules/terms.ts';
import { newId } from '../../src/shared/text/ids.ts';

const MACHINES = 600;
const START_MS = Date.UTC(2026, 10, 22);

/** What becomes of a machine: when its seat ends, or null for a seat that is held until it is released. */
const step = fc.record({
  machine: fc.nat(MACHINES - 1),
  endsInMs: fc.option(fc.integer({ min: -DAY_MS, max: 3 * DAY_MS }), { freq: 4 }),
  isReleased: fc.boolean(),
  passMs: fc.oneof(fc.constant(0), fc.nat(DAY_MS / 10), fc.constantFrom(DAY_MS, 29 * DAY_MS)),
});

test('the counts of a license, and the bytes of its machines, are those of its rows, whatever changes and ends', () =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, { storage }) => {
    const { sql } = storage;
    await storage.deleteAll();
    migrateObject(storage, GATE_TABLES);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, areSpread) => {
        const licenseId = newId('lic');
        const totals = openMachineTotals(sql);
        const machines = openMachines(sql, totals);
        let nowMs = START_MS;
        const write = (n: number, leaseUntilMs: number | null, releasedAtMs: number | null = null) => {
          const seat = { activatedAtMs: 0, lastSeenAtMs: nowMs, countedAtMs: 0, leaseUntilMs };
          machines.write({
            id: `act_${n}`,
            licenseId,
            fingerprint: `machine-${n}`,
            name: n % 3 === 0 ? `Büro ${nowMs}` : null,
            platform: null,
            appVersion: null,
            seat: { ...seat, fileUntilMs: null, releasedAtMs },
          });
        };
        const expectSame = () => {
          const { live, recent, next, released } = sql
            .exec<{ live: number; recent: number; next: number | null; released: number }>(
              `SELECT count(*) FILTER (WHERE live_until_ms > ?1) AS live, count(*) FILTER (WHERE live_until_ms > ?2) AS recent,
                 min(live_until_ms) FILTER (WHERE live_until_ms > ?1) AS next, count(released_at_ms) AS released
               FROM activations WHERE license_id = ?3`,
              nowMs,
              nowMs - 30 * DAY_MS,
              licenseId,
            )
            .one();
          const counted = machines.count(licenseId, nowMs);
          const nextEndMs = next ?? FOREVER_MS;
          expect(counted).toEqual({ used: live, recent, nextEndMs, rows: MACHINES, released });
        };
        for (let n = 0; n < MACHINES; n++) write(n, nowMs + (areSpread ? n * 60_000 : DAY_MS));
        expectSame();
        for (const { machine, endsInMs, isReleased, passMs } of steps) {
          nowMs += passMs;
          write(machine, endsInMs === null ? null : nowMs + endsInMs, isReleased ? nowMs : null);
          expectSame();
        }
        const bytes = () =>
          sql
            .exec<{ bytes: number }>(`SELECT coalesce(sum(${MACHINE_BYTES}), 0) AS bytes FROM activations`)
            .one().bytes;
        expect(totals.bytes()).toBe(bytes());
        machines.eraseNames({ licenseId, untilMs: nowMs });
        expect(totals.bytes()).toBe(bytes());
        machines.trim(licenseId, { ...NO_TERMS, maxActivations: 10 }, nowMs + 31 * DAY_MS);
        expect(totals.bytes()).toBe(bytes());
        machines.eraseLicenses([licenseId]);
        totals.writer.write();
        expect([totals.bytes(), bytes(), openMachineTotals(sql).bytes()]).toEqual([0, 0, 0]);
      }),
      { numRuns: 60 },
    );
  }));
