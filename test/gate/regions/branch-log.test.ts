import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { openBranchStore } from '../../../src/gate/home/branch-store.ts';
import { GATE_TABLES } from '../../../src/gate/home/store.ts';
import { migrateObject } from '../../../src/shared/objects/migrations.ts';
import { newId } from '../../../src/shared/text/ids.ts';

const onEmptyStorage = <T>(work: (storage: DurableObjectStorage) => T) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), async (_instance, { storage }) => {
    await storage.deleteAll();
    return work(storage);
  });

const license = (n: number) => ({ kind: 'license', ref: `KEY-${n}` }) as const;

const openLog = (storage: DurableObjectStorage) => {
  const { log, feedAfter, forgetLog } = openBranchStore(storage, { takeOver: () => {} });
  return { log, feedAfter, forgetLog };
};

test('a row that has changed several times is once in the log, also after a restart', () =>
  onEmptyStorage((storage) => {
    migrateObject(storage, GATE_TABLES);
    const opened = openLog(storage);
    opened.log([1, 2, 1, 1, 3].map(license));
    for (const { feedAfter } of [opened, openLog(storage)]) {
      expect(feedAfter(0)).toEqual({
        after: 0,
        through: 5,
        isReset: false,
        rows: [license(2), license(1), license(3)],
      });
      expect(feedAfter(4).rows).toEqual([license(3)]);
    }
  }));

test('a branch that has missed changes which the log has forgotten drops its copy', () =>
  onEmptyStorage((storage) => {
    migrateObject(storage, GATE_TABLES);
    const opened = openLog(storage);
    opened.log(Array.from({ length: 1_001 }, (_, n) => license(n + 1)));
    for (const { feedAfter } of [opened, openLog(storage)]) {
      expect(feedAfter(500)).toMatchObject({ isReset: true, rows: [] });
      const kept = feedAfter(501);
      expect([kept.isReset, kept.rows.length]).toEqual([false, 500]);
    }
    opened.forgetLog();
    expect(opened.feedAfter(1_001).isReset).toBe(true);
    expect(opened.feedAfter(1_002)).toMatchObject({ isReset: false, rows: [] });
  }));

test('the log of an older release begins at its first row', () =>
  onEmptyStorage((storage) => {
    migrateObject(storage, { ...GATE_TABLES, steps: [] });
    storage.sql.exec('INSERT INTO branch_facts (only, term, openings, revision) VALUES (1, 0, 1, 9)');
    for (const revision of [7, 8, 9])
      storage.sql.exec("INSERT INTO branch_log VALUES (?, 'license', ?)", revision, `KEY-${revision}`);
    migrateObject(storage, GATE_TABLES);
    const { feedAfter } = openLog(storage);
    expect([5, 6].map((after) => feedAfter(after).isReset)).toEqual([true, false]);
    expect(feedAfter(6).rows).toEqual([7, 8, 9].map(license));
  }));
