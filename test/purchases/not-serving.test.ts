import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { accounts } from '../../src/db/schema.ts';
import { commit } from '../../src/gate/worker/commit.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid } from '../stores/shop.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { keepMails, mailsTo } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';

// An account that is suspended, or about to be erased, neither sells nor writes to buyers.

const STATES = [
  ['is suspended', 'suspendedAt'],
  ['is about to be erased', 'eraseAt'],
] as const;

/** A seller who may write to buyers, and can be stopped. */
const open = async (column: (typeof STATES)[number][1]) => {
  const shop = await openShop();
  const { accountId } = shop.ada;
  await verifyAddress(accountId);
  await shop.offer('pro', { grant: 'perpetual' });
  const run = (query: string) => accountsD1.prepare(query).bind(accountId).run();
  const ctx = ctxOf(accountId);
  const set = (ms: number | null) =>
    commit(
      ctx,
      [
        ctx.db
          .update(accounts)
          .set({ [column]: ms })
          .where(eq(accounts.id, accountId)),
      ],
      [{ kind: 'account', ref: accountId }],
    );
  return {
    ...shop,
    work: () => workOnStores(env, accountId),
    stop: () => set(Date.now() + HOUR_MS),
    goOn: () => set(null),
    /** Lets what waits be due. */
    letTimePass: async () => {
      await run('UPDATE purchases SET decide_at = 1 WHERE account_id = ? AND decide_at IS NOT NULL');
      await run('UPDATE purchase_mails SET due_at = 1 WHERE account_id = ? AND due_at IS NOT NULL');
    },
  };
};

test.for(STATES)(
  'an account that %s sells nothing, and what was bought comes if it goes on',
  async ([, column]) => {
    const shop = await open(column);
    await shop.stop();
    await shop.notify(paid('1'));
    await shop.goOn();
    expect(await shop.licenses()).toEqual([]);
    expect(await shop.purchases()).toMatchObject([{ status: 'failed', reason: 'account_suspended' }]);
    await shop.letTimePass();
    await shop.work();
    expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled', reason: null }]);
    expect(await shop.licenses()).toMatchObject([{ status: 'active' }]);
  },
);

test.for(STATES)('an account that %s writes to no buyer until it goes on', async ([, column]) => {
  keepMails();
  const shop = await open(column);
  await shop.notify(paid('1'));
  await shop.stop();
  await shop.work();
  expect(mailsTo('grace@example.com')).toEqual([]);
  await shop.goOn();
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  const { body } = await shop.ada.asSession('GET', `/api/purchases/${id}`);
  expect(body.mails).toMatchObject([{ status: 'waiting', problem: 'account_suspended' }]);
  await shop.letTimePass();
  await shop.work();
  expect(mailsTo('grace@example.com')).toHaveLength(1);
});
