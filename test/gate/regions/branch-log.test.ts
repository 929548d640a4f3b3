import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openBranchLog } from '../../../src/gate/home/branch-log.ts';
import { GATE_TABLES } from '../../../src/gate/home/store.ts';
import { migrateObject } from '../../../src/shared/objects/migrations.ts';
import { newId } from '../../../src/shared/text/ids.ts';

const onEmptyStorage = <T>(work: (storage: DurableObjectStorage) => T) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, { storage }) => {
    await storage.deleteAll();
    return work(storage);
  });

const license = (n: number) => ({ kind: 'license', ref: `KEY-${n}` }) as const;

test('a row that has changed several times is once in the log, also after a restart', () =>
  onEmptyStorage((storage) => {
    migrateObject(storage, GATE_TABLES);
    const log = openBranchLog(storage.sql);
    for (const [i, n] of [1, 2, 1, 1, 3].entries()) log.add(license(n), i + 1);
    for (const opened of [log, openBranchLog(storage.sql)]) {
      expect(opened.feedAfter(0, 5)).toEqual({
        after: 0,
        through: 5,
        isReset: false,
        rows: [license(2), license(1), license(3)],
      });
      expect(opened.feedAfter(4, 5).rows).toEqual([license(3)]);
    }
  }));

test('a branch that has missed changes which the log has forgotten drops its copy', () =>
  onEmptyStorage((storage) => {
    migrateObject(storage, GATE_TABLES);
    const log = openBranchLog(storage.sql);
    for (let n = 1; n <= 1_001; n++) log.add(license(n), n);
    for (const opened of [log, openBranchLog(storage.sql)]) {
      expect(opened.feedAfter(500, 1_001)).toMatchObject({ isReset: true, rows: [] });
      const kept = opened.feedAfter(501, 1_001);
      expect([kept.isReset, kept.rows.length]).toEqual([false, 500]);
    }
    log.forgetThrough(1_002);
    expect(log.feedAfter(1_001, 1_002).isReset).toBe(true);
    expect(log.feedAfter(1_002, 1_002)).toMatchObject({ isReset: false, rows: [] });
  }));

test('the log of an older release begins at its first row', () =>
  onEmptyStorage((storage) => {
    migrateObject(storage, { ...GATE_TABLES, steps: [] });
    for (const revision of [7, 8, 9])
      storage.sql.exec("INSERT INTO branch_log VALUES (?, 'license', ?)", revision, `KEY-${revision}`);
    migrateObject(storage, GATE_TABLES);
    const log = openBranchLog(storage.sql);
    expect([5, 6].map((after) => log.feedAfter(after, 9).isReset)).toEqual([true, false]);
    expect(log.feedAfter(6, 9).rows).toEqual([7, 8, 9].map(license));
  }));
