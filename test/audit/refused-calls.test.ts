import { beforeAll, describe, expect, test } from 'vitest';
import { openLicense } from '../support/activations.ts';
import { storedEntries } from '../support/audit.ts';
import { type Customer, outcomeOf } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';

const NOBODY = 'x'.repeat(20);

describe('a call that changes nothing writes nothing to D1 and leaves no entry', () => {
  let ada: Customer;
  let names: Record<string, string>;

  beforeAll(async () => {
    const { customer, license, on } = await openLicense({ max_activations: 1 });
    ada = customer;
    await on('activate', 1);
    const held = await customer.createLicense({ product: 'orrery' });
    await ada.asSession('POST', `/api/v1/licenses/${held.id}/token`, { fingerprint: 'machine-held' });
    const { data } = (await ada.asSession('GET', `/api/v1/licenses/${held.id}/activations`)).body;
    const urls = Array.from({ length: 20 }, (_, i) => `https://hooks.example.com/${i}`);
    for (const url of urls)
      await ada.asSession('POST', '/api/webhooks', { url, events: ['payment.success'] });
    const webhooks = (await ada.asSession('GET', '/api/webhooks')).body.data;
    for (let i = 0; i < 4; i++) await ada.asSession('POST', `/api/webhooks/${webhooks[0].id}/rotate-secret`);
    names = { license: license.id, held: held.id, seat: data[0].id, webhook: webhooks[0].id };
  });

  test.for<[request: string, outcome: string, body?: object]>([
    [`DELETE /api/v1/licenses/{license}/activations/act_${NOBODY}`, '404 activation_not_found'],
    ['DELETE /api/v1/licenses/{held}/activations/{seat}', '409 invalid_transition'],
    ['POST /api/v1/licenses/{license}/token', '409 no_seat', { fingerprint: 'machine-of-another' }],
    ['POST /api/v1/licenses/{license}/token', '400 invalid_request', {}],
    ['DELETE /api/v1/products/orrery', '409 product_in_use'],
    ['POST /api/webhooks', '403 limit_reached', { url: 'https://hooks.example.com/21' }],
    [`PATCH /api/webhooks/whe_${NOBODY}`, '404 webhook_not_found', { description: 'Shop' }],
    [`DELETE /api/webhooks/whe_${NOBODY}`, '404 webhook_not_found'],
    ['POST /api/webhooks/{webhook}/rotate-secret', '403 limit_reached'],
    [`POST /api/webhooks/whe_${NOBODY}/rotate-secret`, '404 webhook_not_found'],
    [`POST /api/webhooks/whe_${NOBODY}/test`, '404 webhook_not_found'],
    [`POST /api/webhooks/whe_${NOBODY}/replay`, '404 webhook_not_found', { since: '2027-03-10T12:00:00Z' }],
    [`POST /api/webhooks/{webhook}/deliveries/dlv_${NOBODY}/resend`, '404 not_found'],
  ])('%s: %s', async ([request, outcome, body]) => {
    const [method = '', path = ''] = request.replace(/\{(\w+)\}/g, (_, name) => names[name] ?? '').split(' ');
    const before = await storedEntries();
    const { result, statements } = await recordStatements(() => ada.asSession(method, path, body));
    expect(outcomeOf(result)).toBe(outcome);
    expect(statements.filter((statement) => /^\s*(insert|update|delete)/i.test(statement))).toEqual([]);
    expect(await storedEntries()).toEqual(before);
  });
});

test('a repeated create reads its license, and not what else has changed', async () => {
  const { customer } = await openLicense({});
  const create = () =>
    customer.asSession('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'order-1' });
  const first = await create();
  const { result, statements } = await recordStatements(create);
  expect([result.status, result.body.id]).toEqual([201, first.body.id]);
  expect(statements.length).toBeLessThanOrEqual(4);
});
