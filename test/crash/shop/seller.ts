// A seller with a store of each provider, and a double of Gumroad's API, which confirms every sale.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { STORE_PROVIDERS, type StoreProviderName } from '../../../src/shared/rules/stores.ts';
import type { Service } from '../../e2e/support/service.ts';
import { newShopSecret } from '../../e2e/support/shop.ts';
import { WORLDS } from '../../stores/worlds/worlds.ts';
import { addKey, type Customer, expectOk, signUp } from '../customer.ts';
import { changeSource, HOME } from '../regions.ts';
import type { Mailbox } from './mailbox.ts';
import type { Purchase } from './purchases.ts';

export interface Seller extends Pick<Customer, 'session' | 'apiKey'> {
  hooks: Map<StoreProviderName, { path: string; secret: string }>;
}

const PRODUCT = 'orrery';

/**
 * Lifts the bound of a day's emails, and shortens the time after which an email is sent by somebody else than the worker that has
 * claimed it and was killed: the run doesn't wait for ten minutes.
 */
export const changeBuyerMails = (folder: string) => {
  changeSource(folder, 'src/shared/rules/stores.ts', (source) =>
    source.replace('free: 50,', 'free: 20_000,'),
  );
  changeSource(folder, 'src/purchases/mails.ts', (source) =>
    source.replace('CLAIM_MS = 10 * 60_000', 'CLAIM_MS = 60_000'),
  );
};

/** The API lists no sales, so that it makes good for no notification. */
export const openGumroad = async (purchases: Purchase[]) => {
  const answers = new Map(purchases.flatMap((purchase) => [...purchase.answers]));
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace('/gumroad', '');
    const answer = path.startsWith('/v2/sales?') ? '{"success":true,"sales":[]}' : answers.get(path);
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  // As the receiver's.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    variable: `STORE_API_BASE:http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Only an account whose address is proved writes to buyers. */
const proveAddress = async (
  service: Service,
  { waitForLink }: Mailbox,
  email: string,
  session: Seller['session'],
) => {
  const link = await waitForLink(email, 'Verify your email address');
  const [, token] = /#token=(\w+)/.exec(link) ?? [];
  expectOk(await service.post('/api/verify-email', { token }, session));
};

export const openSeller = async (service: Service, mailbox: Mailbox): Promise<Seller> => {
  const email = 'seller@example.com';
  const account = await addKey(service, await signUp(service, email, { home_region: HOME }));
  const { session } = account;
  await proveAddress(service, mailbox, email, session);
  expectOk(await service.put(`/api/v1/products/${PRODUCT}`, {}, session));
  const hooks: Seller['hooks'] = new Map();
  for (const provider of STORE_PROVIDERS) {
    const isMade = provider === 'gumroad';
    const secret = newShopSecret();
    const store = { provider, name: provider, ...(isMade ? { api_key: 'token' } : { secret }) };
    const { id, webhook_url: url } = expectOk(await service.post('/api/stores', store, session)) as {
      id: string;
      webhook_url: string;
    };
    const ref = encodeURIComponent(WORLDS[provider].ref);
    const offer = { product: PRODUCT, grant: 'subscription' };
    expectOk(await service.put(`/api/stores/${id}/offers/${ref}`, offer, session));
    hooks.set(provider, { path: new URL(url).pathname, secret });
  }
  return { ...account, hooks };
};
