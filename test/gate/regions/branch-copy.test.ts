import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openBranchCopy } from '../../../src/gate/branch/branch-copy.ts';
import { BRANCH_TABLES } from '../../../src/gate/branch/gate-branch.ts';
import { migrateObject } from '../../../src/shared/objects/migrations.ts';
import { NO_TERMS } from '../../../src/shared/rules/terms.ts';
import { newId } from '../../../src/shared/text/ids.ts';
import { COPIED_KEY } from '../../support/gate.ts';
import { ENDED, machineOf, NOW, seatOf } from '../../support/judge.ts';

test('a branch drops its copies once they take as much as they may, and keeps the next ones', () =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, { storage }) => {
    await storage.deleteAll();
    migrateObject(storage, BRANCH_TABLES);
    const { sql } = storage;
    const maxBytes = 500_000;
    const copy = openBranchCopy(sql, maxBytes);
    copy.save({ opening: 1, state: 'open' });
    let largest = 0;
    for (let n = 0; n < 3_000; n++) {
      const machine = { ...machineOf(n, seatOf()), name: 'x'.repeat(100) };
      const known = { license: ENDED, terms: NO_TERMS, machine, count: null };
      copy.keep({ asOf: 1, key: { ...COPIED_KEY, id: 'key_1' }, isProduct: false, known }, 1);
      expect(copy.machine(ENDED, machine.fingerprint)).toEqual(machine);
      largest = Math.max(largest, sql.databaseSize);
    }
    expect(largest).toBeGreaterThan(maxBytes);
    expect(largest).toBeLessThan(1.1 * maxBytes);
    expect(copy.findLicense(ENDED.licenseKey)).toMatchObject({ id: ENDED.id });
    expect(copy.usedSeats(ENDED, NOW)).toBeNull();
  }));
