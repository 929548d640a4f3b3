import { and, eq, exists } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { auditAsRead, untilAsRead } from '../../src/audit/audit.ts';
import { licenses } from '../../src/db/schema.ts';
import { eventChange } from '../../src/gate/feed/write.ts';
import { commit } from '../../src/gate/worker/commit.ts';
import { findLicense } from '../../src/licenses/find.ts';
import { licenseEvent } from '../../src/shared/text/events.ts';
import { outcomeOf } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';
import { readOutbox } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const openChange = async () => {
  const { ada, license } = await sellerWithLicense();
  const ctx = ctxOf(ada.accountId);
  const path = `/api/v1/licenses/${license.id}`;
  let attempts = 0;

  /** Changes the license and sends an event, `meddles` times after somebody else has changed it since it was read. */
  const change = (meddles: number) =>
    untilAsRead(async () => {
      const read = await findLicense(ctx, license.id);
      if (attempts++ < meddles) await ada.asSession('PATCH', path, { metadata: { attempts } });
      const isLicense = and(eq(licenses.accountId, ctx.accountId), eq(licenses.id, read.id));
      const isAsRead = and(isLicense, eq(licenses.updatedAt, read.updatedAt));
      const found = exists(ctx.db.select({ id: licenses.id }).from(licenses).where(isAsRead));
      await commit(
        ctx,
        [
          auditAsRead(ctx, found, 'license.renew', read.id),
          ctx.db.update(licenses).set({ product: 'Orrery' }).where(isAsRead),
        ],
        [{ kind: 'license', ref: read.id }, eventChange(licenseEvent('license.created', Date.now(), read))],
      );
    });
  const entries = async () => {
    const { body } = await ada.asSession('GET', '/api/audit-log?action=license.renew');
    return body.data.length;
  };
  /** How many licenses the account's events say were created. The last one is created here. */
  const events = async () => {
    const { id } = await ada.createLicense();
    const payloads = () =>
      readOutbox<{ payload: string }>(
        ada.accountId,
        "SELECT value ->> 'payload' AS payload FROM event_blocks, json_each(events) WHERE value ->> 'name' = 'license.created'",
      );
    return (await waitUntil(payloads, (found) => found.some(({ payload }) => payload.includes(id)))).length;
  };
  return { ada, path, change, entries, events, attempts: () => attempts };
};

test('a change of a license that somebody changes meanwhile is repeated, with one entry and one event', async () => {
  const { ada, path, change, entries, events, attempts } = await openChange();
  await change(2);
  expect([attempts(), await entries(), await events()]).toEqual([3, 1, 3]);
  expect((await ada.asSession('GET', path)).body).toMatchObject({
    product: 'Orrery',
    metadata: { attempts: 2 },
  });
});

test('a change that others come before again and again is refused, and leaves neither entry nor event', async () => {
  const { change, entries, events } = await openChange();
  await expect(change(1_000)).rejects.toThrow('unavailable');
  expect([await entries(), await events()]).toEqual([0, 2]);
});

test('of a license that is deleted twice at once, one call deletes it and the other finds none', async () => {
  const { ada, path } = await openChange();
  const remove = () => ada.asSession('DELETE', path);
  const outcomes = (await Promise.all([remove(), remove()])).map(outcomeOf);
  expect(outcomes.toSorted()).toEqual(['200 ok', '404 license_not_found']);
});

test('nine changes of a license at once are all made', async () => {
  const { ada, path } = await openChange();
  const answers = await Promise.all(
    Array.from({ length: 9 }, () => ada.asSession('POST', `${path}/renew`, { duration_days: 1 })),
  );
  expect(new Set(answers.map(outcomeOf))).toEqual(new Set(['200 ok']));
});
