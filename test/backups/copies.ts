import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { requireBucket } from '../../src/backups/bucket.ts';
import { type CompleteBackup, readSummary, writeSummary } from '../../src/backups/state.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { captureLogs } from '../http/security.ts';
import { type Json, signUp } from '../support/client.ts';
import { doBefore } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, readGate } from '../support/gate.ts';
import { readEvents, runOutboxAlarm } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { backUpMeeting } from './cut-off.ts';
import { holding, keptOf, step } from './half-restored.ts';
import { backUp, FINGERPRINT, loseService, openSeller, restore, verify } from './service.ts';

/** How much a gate has copied of D1, and whether it takes that for everything. */
const copyOf = async (accountId: string) => {
  const query = `SELECT value ->> 'complete' AS isComplete, (SELECT count(*) FROM facts WHERE name = 'account') AS accounts,
    (SELECT count(*) FROM keys) AS keys, (SELECT count(*) FROM licenses) AS licenses, (SELECT count(*) FROM products) AS products
    FROM facts WHERE name = 'progress'`;
  const [copy] = await readGate<Record<string, number>>(accountId, query);
  return copy ?? {};
};

/** Reads what a gate has until it is so, and lets its alarm go on meanwhile. */
const untilAlarms = <T>(accountId: string, read: () => Promise<T>, isDone: (value: T) => boolean) =>
  waitUntil(async () => {
    await runDurableObjectAlarm(gate(accountId));
    return read();
  }, isDone);

const WHOLE = { isComplete: 1, accounts: 1, keys: 1, licenses: 3, products: 1 };

const untilWhole = async (accountId: string) => {
  const isWhole = ({ isComplete, keys }: Record<string, number>) => isComplete === 1 && keys === 1;
  expect(await untilAlarms(accountId, () => copyOf(accountId), isWhole)).toEqual(WHOLE);
};

/** A seller whose service was lost after a backup, and what was kept of it. */
const openLost = async () => {
  await loseService();
  const one = await openSeller(0);
  const before = await keptOf(one);
  const { id } = await backUp();
  await loseService();
  return { one, accountId: one.ada.accountId, before, id };
};

/** Lets the gate read the feed, and forward its events to the outbox. */
const forwardEvents = async (accountId: string) => {
  for (let i = 0; i < 2; i++) {
    vi.advanceTimersByTime(61_000);
    await runDurableObjectAlarm(gate(accountId));
  }
};

/** Tests of what gates read of D1 while it is restored, and afterwards. */
export const testCopies = () => {
  test('an account whose application calls between two tables of a restore has its keys, licenses and products once it is done', async () => {
    const { one, accountId, before, id } = await openLost();
    const hasCalled = doBefore(/^INSERT OR IGNORE INTO "api_keys"/, async () => {
      expect((await verify(one.ada, one.licenseKey)).status).toBe(403);
      await gate(accountId).pull();
      expect(await copyOf(accountId)).toEqual({ ...WHOLE, keys: 0, products: 0 });
    });
    expect((await restore(id)).body).toMatchObject({ done: true, accounts: 1 });
    expect(hasCalled()).toBe(true);
    await untilWhole(accountId);
    expect(await keptOf(one)).toEqual(before);
  });

  test('an account that was asked for before a restore, and again between its rows and its objects, has its keys once it is done', async () => {
    const { one, accountId, before, id } = await openLost();
    await gate(accountId).pull();
    expect(await copyOf(accountId)).toMatchObject({ isComplete: 1, accounts: 0 });
    const held = holding(accountId, ({ kind }) => kind === 'begin');
    const restored = step(id, held.service);
    await held.reached;
    await gate(accountId).pull();
    expect(await copyOf(accountId)).toMatchObject({ isComplete: 1, accounts: 1, keys: 0 });
    held.goOn();
    const { chunks, restoredChunks } = await restored;
    expect(restoredChunks).toBe(chunks);
    await untilWhole(accountId);
    expect(await keptOf(one)).toEqual(before);
  });

  test('an account of which the backup has no objects has its keys and licenses once the service is restored', async () => {
    await loseService();
    const { ada, licenseKey } = await openSeller(0);
    const { accountId } = ada;
    captureLogs();
    const { backup } = await backUpMeeting(accountId, async () => {
      throw new Error('This account fails.');
    });
    expect(backup).toMatchObject({ status: 'done', missing_accounts: [accountId] });
    await loseService();
    await gate(accountId).pull();
    expect(await copyOf(accountId)).toMatchObject({ isComplete: 1, accounts: 0 });
    expect((await restore(backup.id)).body).toMatchObject({ done: true, accounts: 0 });
    await untilWhole(accountId);
    expect((await ada.verify(licenseKey)).body.status).toBe('active');
  });

  test('a restore goes on in another call with the copies of many accounts of which the backup has no objects', async () => {
    await loseService();
    const { ada } = await openSeller(0);
    const { accountId } = ada;
    captureLogs();
    const { backup } = await backUpMeeting(accountId, async () => {
      throw new Error('This account fails.');
    });
    const { id } = backup;
    const bucket = requireBucket(env);
    const deleted = Array.from({ length: 150 }, () => newId('acct'));
    const summary = (await readSummary(bucket, id)) as CompleteBackup;
    await writeSummary(bucket, { ...summary, missing: [...deleted, accountId] });
    await loseService();
    await gate(accountId).pull();
    const { chunks, restoredChunks } = await step(id);
    expect(restoredChunks).toBeLessThan(chunks);
    expect(await copyOf(accountId)).toMatchObject({ accounts: 0 });
    expect(await step(id)).toMatchObject({ restoredChunks: chunks });
    await untilWhole(accountId);
  });

  test('machines of a license that was made while its service was backed up are gone once the service is restored', async () => {
    await loseService();
    const { ada, licenses } = await openSeller(0);
    const { accountId } = ada;
    let late: Json = null;
    // The tables have been read.
    const { backup } = await backUpMeeting(accountId, async () => {
      if (late) return;
      late = await ada.createLicense();
      const machine = { license_key: late.license_key, fingerprint: FINGERPRINT };
      await ada.asKey('POST', '/api/v1/licenses/activate', machine);
    });
    const licensesIn = async (table: string) =>
      (await readGate<{ id: string }>(accountId, `SELECT DISTINCT license_id AS id FROM ${table}`)).map(
        ({ id }) => id,
      );
    expect(await licensesIn('activations')).toContain(late.id);
    await loseService();
    await restore(backup.id);
    const isGone = (ids: string[]) => !ids.includes(late.id);
    const kept = await untilAlarms(accountId, () => licensesIn('activations'), isGone);
    expect(kept).toEqual([licenses[0].id]);
    expect(await licensesIn('seat_changes')).toEqual([licenses[0].id]);
  });

  test('an event that the outbox has forgotten is not delivered again by a restored service', async () => {
    await loseService();
    useFakeClock();
    const { accountId, createLicense } = await signUp();
    await createLicense();
    await forwardEvents(accountId);
    expect(await readEvents(accountId)).toHaveLength(1);
    vi.advanceTimersByTime(31 * DAY_MS);
    await runOutboxAlarm(accountId);
    expect(await readEvents(accountId)).toEqual([]);
    const query = "SELECT count(*) AS n FROM feed WHERE account_id = ? AND kind = 'event'";
    expect(await accountsD1.prepare(query).bind(accountId).first('n')).toBe(1);

    const { id } = await backUp();
    await loseService();
    await restore(id);
    await forwardEvents(accountId);
    expect(await readEvents(accountId)).toEqual([]);
  });
};
