import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Bucket, readSealed, requireBucket } from '../../src/backups/bucket.ts';
import { openChunkWriter } from '../../src/backups/chunk-writer.ts';
import { readLines } from '../../src/backups/lines.ts';
import { begin, chunkName, chunkOwner } from '../../src/backups/state.ts';
import { makeStep } from '../../src/backups/step.ts';
import { deleteAccount, endUser, eraseRows } from '../../src/erasure/account.ts';
import { type BackupPlace, type Line, readBackupFrom } from '../../src/operators/backup.ts';
import type { BackupCall } from '../../src/shared/objects/backup.ts';
import { captureLogs } from '../http/security.ts';
import { ctxOf } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asOperator } from '../support/operator.ts';
import { loseService, openSeller, pictureOf, restore } from './service.ts';

const MAX_STEPS = 60;

/** The service, with something that happens before each call of the backup or restore to the gate of an account. */
export const meeting = (accountId: string, meet: (call: BackupCall) => Promise<void>): Env => ({
  ...env,
  GATE: new Proxy(env.GATE, {
    get: (namespace, property) =>
      property === 'getByName'
        ? (name: string) => {
            const stub = namespace.getByName(name);
            const isMet = name.includes(accountId);
            const backup = async (call: BackupCall) => {
              if (isMet) await meet(call);
              return (stub as unknown as { backup: (call: BackupCall) => Promise<unknown> }).backup(call);
            };
            return { backup, reload: () => stub.reload() };
          }
        : Reflect.get(namespace, property),
  }),
});

/** A bucket that, like R2, doesn't write its record twice within a second. It also fails to write it every so many times. */
const bucketAsInR2 = (failsEach: number): Bucket => {
  const bucket = requireBucket(env);
  let writes = 0;
  let writtenAtMs = -Infinity;
  const put: R2Bucket['put'] = async (name: string, ...rest: never) => {
    if (name === 'running') {
      const atMs = performance.now();
      const isRefused = atMs < writtenAtMs + 1_000 || ++writes % failsEach === 0;
      writtenAtMs = atMs;
      if (isRefused) throw new Error('put: Reduce your concurrent request rate for the same object. (10058)');
    }
    return (bucket.r2.put as (name: string, ...rest: never) => Promise<R2Object>)(name, ...rest);
  };
  const r2 = new Proxy(bucket.r2, {
    get: (target, property) => {
      if (property === 'put') return put;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...bucket, r2 };
};

/** Makes steps until the backup ends. One that meets its end returns nothing, as if its process was gone. */
export const backUpMeeting = async (
  accountId: string,
  meet: (endStep: () => void) => Promise<void>,
  { afterStep = async () => {}, bucket = requireBucket(env) } = {},
) => {
  const { body } = await asOperator('POST', '/operator/backups');
  let steps = 0;
  for (let status = 'running'; status === 'running' && steps < MAX_STEPS; steps++) {
    const ended = Promise.withResolvers<null>();
    const step = makeStep(
      meeting(accountId, () => meet(() => ended.resolve(null))),
      bucket,
    ).catch(() => null);
    status = (await Promise.race([step, ended.promise]))?.status ?? 'running';
    await afterStep();
  }
  const { body: backup } = await asOperator('GET', `/operator/backups/${String(body['id'])}`);
  return { backup, steps };
};

/** Two sellers, in the order in which they are backed up, and what erases the first one once it was met so often. */
const openGoing = async (times: number) => {
  await loseService();
  const [going, other] = [await openSeller(0), await openSeller(1)].toSorted((one, two) =>
    one.ada.accountId < two.ada.accountId ? -1 : 1,
  );
  const { accountId } = going!.ada;
  let met = 0;
  return {
    other: other!,
    accountId,
    meet: () => void met++,
    erase: async () => {
      if (met < times) return;
      await endUser(ctxOf(accountId), 'requested');
      await eraseRows(ctxOf(accountId), 'no_user', () => true);
      await deleteAccount(ctxOf(accountId));
    },
  };
};

/** Tests of steps that don't come to their end. */
export const testCutOffSteps = () => {
  test('an account that ends each step that reads it is left out and named, and the accounts after it are backed up', async () => {
    await loseService();
    const sellers = [await openSeller(0), await openSeller(1), await openSeller(2), await openSeller(3)];
    const [, , deadly] = sellers.map(({ ada }) => ada.accountId).toSorted();
    captureLogs();
    const { backup } = await backUpMeeting(deadly!, (endStep) => {
      endStep();
      return new Promise(() => {});
    });
    expect(backup).toMatchObject({ status: 'done', accounts: 3, missing_accounts: [deadly] });
  });

  test('an account that ends two steps is backed up by the next one', async () => {
    await loseService();
    const [one] = [await openSeller(0), await openSeller(1)];
    let times = 0;
    const { backup } = await backUpMeeting(one.ada.accountId, async (endStep) => {
      if (times++ >= 2) return;
      endStep();
      await new Promise(() => {});
    });
    expect(backup).toMatchObject({ status: 'done', accounts: 2, missing_accounts: [] });
  });

  test('an account that takes longer than a step is backed up by several, and restored as it was', async () => {
    await loseService();
    const one = await openSeller(0);
    const other = await openSeller(1);
    const before = await Promise.all([pictureOf(one), pictureOf(other)]);
    useFakeClock(Date.now());
    const { backup, steps } = await backUpMeeting(one.ada.accountId, async () => {
      vi.advanceTimersByTime(16_000);
    });
    expect(backup).toMatchObject({ status: 'done', accounts: 2, missing_accounts: [] });
    expect(steps).toBeGreaterThan(5);
    await loseService();
    expect((await restore(backup.id)).body).toMatchObject({ done: true, accounts: 2 });
    // The picture verifies the license, which counts.
    for (const [i, seller] of [one, other].entries()) {
      const { verifiedUsage = 0, ...was } = before[i] ?? {};
      const counted = { usage: verifiedUsage, verifiedUsage: verifiedUsage + 1 };
      expect(await pictureOf(seller)).toEqual({ ...was, ...counted });
    }
  });

  test('an account is backed up from its beginning although the one before it was erased in the middle', async () => {
    const { other, accountId, meet, erase } = await openGoing(3);
    const before = await pictureOf(other);
    useFakeClock(Date.now());
    const goOn = async () => {
      meet();
      vi.advanceTimersByTime(16_000);
    };
    const { backup } = await backUpMeeting(accountId, goOn, { afterStep: erase });
    expect(backup).toMatchObject({ status: 'done', accounts: 1, missing_accounts: [] });
    await loseService();
    expect((await restore(backup.id)).body).toMatchObject({ done: true, accounts: 1 });
    const { licenses, secret, seat } = before;
    expect(await pictureOf(other)).toMatchObject({ licenses, secret, seat });
  });

  test('an account is not left out because the one before it had failed before it was erased', async () => {
    const { accountId, meet, erase } = await openGoing(3);
    captureLogs();
    const fail = async () => {
      meet();
      throw new Error('This account fails.');
    };
    const { backup } = await backUpMeeting(accountId, fail, { afterStep: erase });
    expect(backup).toMatchObject({ status: 'done', accounts: 1, missing_accounts: [] });
  });

  test('no account is left out because the bucket is written too often, or fails now and then', async () => {
    vi.spyOn(scheduler, 'wait').mockRestore();
    await loseService();
    const sellers = [await openSeller(0), await openSeller(1)];
    const [first] = sellers.map(({ ada }) => ada.accountId).toSorted();
    let times = 0;
    const endOnce = async (endStep: () => void) => {
      if (times++ > 0) return;
      endStep();
      await new Promise(() => {});
    };
    const { backup } = await backUpMeeting(first!, endOnce, { bucket: bucketAsInR2(4) });
    expect(backup).toMatchObject({ status: 'done', accounts: 2, missing_accounts: [] });
  });

  test('a chunk that the bucket fails to take once is written all the same', async () => {
    const bucket = requireBucket(env);
    const state = await begin(env);
    const put = vi.spyOn(bucket.r2, 'put').mockRejectedValueOnce(new Error('put: Internal error. (10001)'));
    onTestFinished(() => put.mockRestore());
    const writer = openChunkWriter(bucket, state);
    await writer.add({ account: 'acct_1', id: 'id', line: { type: 'end', lines: 0 } });
    await expect(writer.flush()).rejects.toThrow('Internal error');
    await writer.flush();
    const chunk = await readSealed(
      bucket,
      chunkName(state.id, state.chunks[0] ?? ''),
      chunkOwner(state.id, 0),
    );
    expect(readLines(chunk?.text ?? '')).toMatchObject([{ account: 'acct_1' }]);
  });

  test('two steps at once make one of them', async () => {
    await openSeller(6);
    const { body } = await asOperator('POST', '/operator/backups');
    const goOn = () => asOperator('POST', `/operator/backups/${body.id}/continue`);
    const steps = await Promise.all([goOn(), goOn()]);
    expect(steps.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    const { body: done } = await asOperator('GET', `/operator/backups/${body.id}`);
    expect(done.status).toBe('done');
  });

  test('an account with which another release goes on is read from the beginning', async () => {
    const { ada } = await openSeller(0);
    const readFrom = async (from: BackupPlace | null) => {
      const lines: Line[] = [];
      let place: BackupPlace | null = null;
      for await (const { line, next } of readBackupFrom(ctxOf(ada.accountId), from)) {
        lines.push(line);
        if (lines.length === 2) place = next;
      }
      return { lines, place };
    };
    const { lines, place } = await readFrom(null);
    expect(lines.length).toBeGreaterThan(4);
    expect((await readFrom(place)).lines).toEqual(lines.slice(2));
    const ofOther = place && { ...place, steps: { gate: 1, outbox: 1 } };
    expect((await readFrom(ofOther)).lines.map(({ type }) => type)).toEqual(lines.map(({ type }) => type));
  });
};
