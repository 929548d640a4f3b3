import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test } from 'vitest';
import { workOnStores } from '../../src/stores/work.ts';
import { buyerMailLimits } from '../../src/users/limits.ts';
import { consumeAttempts } from '../../src/users/throttle.ts';
import { subscribe } from '../billing/sandbox.ts';
import { openShop, paid } from '../stores/shop.ts';
import type { Customer } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { keepMails } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { verifyAddress } from '../support/sign-in.ts';

const ROADS: Record<string, (ada: Customer) => Promise<unknown>> = {
  'a payment': (ada) => subscribe(ada),
  'the operator’s grant': ({ accountId }) =>
    asOperator('POST', `/operator/accounts/${accountId}/plan`, { plan: 'pro' }),
};

test.for(Object.entries(ROADS))(
  'a key that is over the bound of a day is mailed once %s allows more, and so is one that is sold after it',
  async ([, upgrade]) => {
    useFakeClock();
    onTestFinished(withOperatorToken());
    keepMails();
    const shop = await openShop();
    await verifyAddress(shop.ada.accountId);
    await shop.offer('pro', { grant: 'perpetual' });
    const mailsOf = async (order: string) => {
      const [{ id }] = (await shop.purchases(`?q=${order}`)) as [{ id: string }];
      return (await shop.ada.asSession('GET', `/api/purchases/${id}`)).body.mails;
    };
    const ofFree = buyerMailLimits(shop.ada.accountId, 'free');
    await Promise.all(Array.from({ length: 50 }, () => consumeAttempts(publicCtx, [ofFree])));
    await shop.notify(paid('before'));
    await workOnStores(env, shop.ada.accountId);
    expect(await mailsOf('before')).toMatchObject([{ status: 'waiting', problem: 'limit_of_the_day' }]);
    await upgrade(shop.ada);
    await workOnStores(env, shop.ada.accountId);
    await shop.notify(paid('after'));
    await workOnStores(env, shop.ada.accountId);
    for (const order of ['before', 'after'])
      expect(await mailsOf(order)).toMatchObject([{ status: 'sent', problem: null }]);
  },
);
