import { expect, test } from 'vitest';
import type { Answer } from '../support/client.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { nameOf, pathTo, routes } from './security.ts';

const REPEATABLE = [
  'PATCH /api/account',
  'PATCH /api/stores/:id',
  'PATCH /api/v1/licenses/:id',
  'PATCH /api/v1/products/:code/mail',
  'PATCH /api/webhooks/:id',
  'POST /api/api-keys/:id/rotate',
  'POST /api/cancel-subscription',
  'POST /api/create-api-key',
  'POST /api/erase-customer',
  'POST /api/home-region',
  'POST /api/init-payment',
  'POST /api/purchases/:id/assign',
  'POST /api/purchases/:id/resend-mail',
  'POST /api/purchases/:id/retry',
  'POST /api/resume-subscription',
  'POST /api/stores',
  'POST /api/v1/licenses/:id/reinstate',
  'POST /api/v1/licenses/:id/renew',
  'POST /api/v1/licenses/:id/revoke',
  'POST /api/v1/licenses/:id/rotate-key',
  'POST /api/v1/licenses/:id/suspend',
  'POST /api/v1/licenses/:id/token',
  'POST /api/v1/licenses/create',
  'POST /api/webhooks',
  'POST /api/webhooks/:id/deliveries/:delivery_id/resend',
  'POST /api/webhooks/:id/replay',
  'POST /api/webhooks/:id/rotate-secret',
  'POST /api/webhooks/:id/test',
];

/** Whether the route says that it doesn’t support the header. */
const refuses = ({ status, body }: Answer): boolean =>
  status === 400 &&
  body.error.code === 'invalid_request' &&
  body.error.details.some(
    ({ path, message }: Record<string, string>) =>
      path === 'idempotency-key' && message?.includes('supported'),
  );

// Stripe isn’t configured here.
test('every POST and PATCH honors an Idempotency-Key or refuses it', async () => {
  const { ada } = await sellerWithLicense({}, 'scale');
  const changing = routes.filter(({ method }) => method === 'POST' || method === 'PATCH');
  const honoring = changing.filter(({ operation }) => operation.isRepeatable).map(nameOf);
  expect(honoring.toSorted()).toEqual(REPEATABLE);
  const ignoring: string[] = [];
  for (const route of changing.filter(({ path }) => path !== '/api/billing/stripe')) {
    if (route.operation.isRepeatable) continue;
    const send = route.operation.access === 'key' ? ada.asKey : ada.asSession;
    const answer = await send(route.method, pathTo(route, {}), {}, { 'idempotency-key': 'once' });
    if (!refuses(answer)) ignoring.push(`${nameOf(route)}: ${answer.status}`);
  }
  expect(ignoring).toEqual([]);
});
