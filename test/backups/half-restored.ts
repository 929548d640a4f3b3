import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { type Bucket, requireBucket } from '../../src/backups/bucket.ts';
import { restoreStep } from '../../src/backups/restore.ts';
import { restoring } from '../../src/backups/restoring.ts';
import type { BackupCall } from '../../src/shared/objects/backup.ts';
import { OPERATOR } from '../../src/shared/rules/audit.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { captureLogs } from '../http/security.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { gate, readGate } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { asOperator } from '../support/operator.ts';
import { consume, outbox, readOutbox } from '../support/outbox.ts';
import { backUpMeeting, meeting } from './cut-off.ts';
import { backUp, beRestoring, emptyBucket, loseService, openSeller, pictureOf, restore } from './service.ts';

type Seller = Awaited<ReturnType<typeof openSeller>>;

/** Makes a step of a restore. */
export const step = (id: string, service: Env = env, bucket = requireBucket(env)) =>
  restoreStep({ env: service, accountId: 'operator', actor: OPERATOR, ip: null }, bucket, id);

/** A bucket with which a step restores one chunk: reading it takes longer than a step. */
const slowBucket = (): Bucket => {
  const { r2, ring } = requireBucket(env);
  const get = async (name: string) => {
    if (name.startsWith('chunks/')) vi.advanceTimersByTime(16_000);
    return r2.get(name);
  };
  const slow = new Proxy(r2, {
    get: (target, property) => {
      if (property === 'get') return get;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { r2: slow, ring };
};

/** The service, whose restore stops before a call of the gate. `reached` ends there, and `goOn` lets it go on. */
export const holding = (accountId: string, isHeld: (call: BackupCall) => boolean) => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const service = meeting(accountId, async (call) => {
    if (!isHeld(call)) return;
    reached.resolve();
    await released.promise;
  });
  return { service, reached: reached.promise, goOn: () => released.resolve() };
};

/** What is as it was before the service was lost. The picture verifies the license, which counts. */
export const keptOf = async (seller: Seller) => {
  const { licenses, secret, seat, valid } = await pictureOf(seller);
  return { licenses, secret, seat, valid };
};

/** Rows by which work on half the tables would be seen: an email that is due without its purchase, and an old key. */
const insertDue = async (accountId: string) => {
  const mail =
    'INSERT INTO purchase_mails (account_id, purchase_id, number, due_at, created_at) VALUES (?, ?, 1, 1, 1)';
  await accountsD1.prepare(mail).bind(accountId, `pur_of_${accountId}`).run();
  const key =
    "INSERT INTO idempotency_keys (account_id, key, request_hash, license_id, created_at) VALUES (?, 'old', '', '', 1)";
  await accountsD1.prepare(key).bind(accountId).run();
};

const countDue = async (accountId: string) => {
  const count = (query: string) => accountsD1.prepare(query).bind(accountId).first('n');
  return [
    await count(
      'SELECT count(*) AS n FROM purchase_mails WHERE account_id = ? AND due_at = 1 AND problem IS NULL',
    ),
    await count("SELECT count(*) AS n FROM idempotency_keys WHERE account_id = ? AND key = 'old'"),
  ];
};

/** Tests of restores that meet other calls, other restores, or rows of accounts that are not there. */
export const testHalfRestored = () => {
  test('what the objects of an account have that the backup lacks is left out and counted', async () => {
    await loseService();
    const one = await openSeller(0);
    const before = await keptOf(one);
    const late: Seller[] = [];
    captureLogs();
    // The tables have been read, and the step ends.
    const { backup } = await backUpMeeting(one.ada.accountId, async () => {
      if (late.length > 0) return;
      late.push(await openSeller(1));
      throw new Error('This step ends.');
    });
    expect(backup).toMatchObject({ status: 'done', accounts: 2, missing_accounts: [] });
    await loseService();
    const { body } = await restore(backup.id);
    expect(body).toMatchObject({ done: true, accounts: 1 });
    expect(body['skipped_rows']).toBeGreaterThan(0);
    const [{ accountId }] = late.map(({ ada }) => ada) as [Seller['ada']];
    expect(await readGate(accountId, 'SELECT * FROM activations')).toEqual([]);
    expect(await readOutbox(accountId, 'SELECT * FROM endpoints')).toEqual([]);
    expect(await keptOf(one)).toEqual(before);
  });

  test('of two calls that restore an account at once, one fails, and the other brings back everything', async () => {
    await loseService();
    const one = await openSeller(0);
    const before = await keptOf(one);
    const { id } = await backUp();
    await loseService();
    const { accountId } = one.ada;
    let parts = 0;
    const first = holding(accountId, ({ kind }) => kind === 'commit');
    const second = holding(accountId, ({ kind }) => kind === 'part' && ++parts === 2);
    const overtaken = step(id, first.service).then(() => 'restored', String);
    await first.reached;
    const other = step(id, second.service);
    await second.reached;
    first.goOn();
    expect(await overtaken).toContain('Another restore of the account has begun');
    second.goOn();
    const { chunks, restoredChunks } = await other;
    expect(restoredChunks).toBe(chunks);
    expect(await keptOf(one)).toEqual(before);
  });

  test('an account that is restored in several calls begins anew if something was erased between them', async () => {
    await loseService();
    const one = await openSeller(0);
    const { accountId } = one.ada;
    const before = await keptOf(one);
    useFakeClock(Date.now());
    const { backup } = await backUpMeeting(accountId, async () => {
      vi.advanceTimersByTime(16_000);
    });
    await loseService();
    const bucket = slowBucket();
    const begun = async () => (await restoring(bucket).read())?.value?.begun;
    await step(backup.id, env, bucket);
    for (let steps = 0; !(await begun()) && steps < 10; steps++) await step(backup.id, env, bucket);
    await step(backup.id, env, bucket);
    expect(await begun()).toMatchObject({ at: { accounts: 0 } });

    await outbox(accountId).eraseEvents({ licenseIds: [], emails: ['erased@example.com'] }, '');
    await gate(accountId).eraseTraces([], ['erased@example.com']);
    expect((await restore(backup.id)).body).toMatchObject({ done: true, accounts: 1, skipped_rows: 0 });
    expect(await keptOf(one)).toEqual(before);
  });

  test('neither the hourly work nor the queue decides anything while tables come in, or for longer than a day', async () => {
    await loseService();
    const { ada } = await openSeller(0);
    const { id } = await backUp();
    const { accountId } = ada;
    await insertDue(accountId);
    await beRestoring(id);
    const work = async () => {
      await runHourly();
      await consume({ account_id: accountId, work: 'stores' });
      return countDue(accountId);
    };
    expect(await work()).toEqual([1, 1]);
    useFakeClock(Date.now() + DAY_MS + 60_000);
    expect(await work()).toEqual([0, 0]);
    await emptyBucket();
  });

  test('a service whose bucket can’t be reached does its work', async () => {
    await loseService();
    const { ada } = await openSeller(0);
    await insertDue(ada.accountId);
    captureLogs();
    const BACKUPS = { head: () => Promise.reject(new Error('R2 is down.')) } as unknown as R2Bucket;
    await consume({ account_id: ada.accountId, work: 'stores' }, { ...env, BACKUPS });
    expect(await countDue(ada.accountId)).toEqual([0, 1]);
  });

  test('a restore that has ended lets the work go on at once', async () => {
    await loseService();
    await emptyBucket();
    const { ada } = await openSeller(0);
    const { id } = await backUp();
    await loseService();
    expect((await asOperator('POST', `/operator/backups/${id}/restore`)).body).toMatchObject({ done: true });
    await insertDue(ada.accountId);
    await runHourly();
    expect(await countDue(ada.accountId)).toEqual([1, 0]);
  });
};
