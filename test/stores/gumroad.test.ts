import { expect, test } from 'vitest';
import { gumroad } from '../../src/stores/provider/gumroad.ts';
import { type GumroadSale, ping, sale, subscriptionPing } from './bodies/gumroad.ts';
import { deliver, listAll, openApi, readBody } from './module.ts';

const CREATED = '2027-01-10T12:00:00Z';
const SOLD: GumroadSale = { id: 'A-m3CDDC5dlrSdKZp0RFhA==', createdAt: CREATED };
const MEMBER = { ...SOLD, subscription: 'GDzW4_aBdQc-o7Gbjng7lw==' };
const api = gumroad.api!;
const asForm = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const ask = (of: GumroadSale | ReturnType<typeof sale>, what = `sale/${SOLD.id}`) =>
  api.ask!(
    openApi('token', {
      '/v2/sales/': { success: true, sale: 'created_at' in of ? of : sale(of) },
    }).access,
    what,
  );

test('a ping is known by the token in its path, and by nothing else', () => {
  const isSigned = (token: string | null) =>
    gumroad.isSigned(deliver(asForm(ping(SOLD)), {}, { token }), ['a'.repeat(43), 'b'.repeat(43)]);
  expect([isSigned('b'.repeat(43)), isSigned('c'.repeat(43)), isSigned('b'), isSigned(null)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('a ping alone sells nothing: each sale is asked about', () => {
  const asked = { kind: 'facts', type: 'sale', facts: [], asks: [`sale/${SOLD.id}`] };
  expect(readBody(gumroad, asForm(ping(SOLD)))).toEqual(asked);
  expect(readBody(gumroad, JSON.stringify(ping(SOLD)))).toEqual(asked);
  expect(readBody(gumroad, asForm({ ...ping(SOLD), refunded: 'true', resource_name: 'refund' }))).toEqual({
    ...asked,
    type: 'refund',
  });
});

test('what becomes of a membership is asked of its first sale', () => {
  const ended = subscriptionPing('subscription_ended', MEMBER.subscription, ['s1', 's2']);
  const asks = [`ended-at-${Date.parse('2027-03-10T12:00:00Z')}-sale/s1`];
  expect(readBody(gumroad, asForm(ended))).toMatchObject({ type: 'subscription_ended', asks });
  expect(readBody(gumroad, asForm({ ...ended, ended_at: 'soon' }))).toMatchObject({ asks: ['sale/s1'] });
  const bare = asForm({ resource_name: 'cancellation' });
  expect(readBody(gumroad, `${bare}&purchase_ids%5B%5D=s3&purchase_ids%5B%5D=s4`)).toMatchObject({
    asks: ['sale/s3'],
  });
  expect(readBody(gumroad, bare).kind).toBe('unreadable');
});

test('a confirmed sale names its product, its number, and who bought it', async () => {
  expect(await ask({ ...SOLD, quantity: 3 })).toEqual([
    {
      kind: 'paid',
      about: `sale/${SOLD.id}`,
      atMs: Date.parse(CREATED),
      version: 1,
      number: '524459935',
      buyer: { email: 'ada@example.com', name: 'Ada Byron' },
      lines: [{ refs: ['orrery', 'pTqRuNPmZhkXbbMJ8jp8yg=='], quantity: 3 }],
      amount: 3_600,
      currency: 'usd',
    },
  ]);
});

test('asking again tells the same, so that nothing gets a new version', async () => {
  const refunded = { ...MEMBER, isRefunded: true, isDisputed: true, isEnded: true };
  expect(await ask(refunded)).toEqual(await ask(refunded));
});

test('a membership’s charge pays from its day on, as often as it recurs', async () => {
  const until = async (recurrence: string) => {
    const [paid] = await ask({ ...MEMBER, recurrence });
    return paid?.kind === 'paid' && paid.covers && 'untilMs' in paid.covers
      ? new Date(paid.covers.untilMs).toISOString()
      : null;
  };
  expect(
    await Promise.all(['monthly', 'quarterly', 'biannually', 'yearly', 'every_two_years'].map(until)),
  ).toEqual([
    '2027-02-10T12:00:00.000Z',
    '2027-04-10T12:00:00.000Z',
    '2027-07-10T12:00:00.000Z',
    '2028-01-10T12:00:00.000Z',
    '2029-01-10T12:00:00.000Z',
  ]);
});

test('a refund, a dispute, and an end are what the sale says now', async () => {
  const about = `sale/${SOLD.id}`;
  expect((await ask({ ...SOLD, isPartlyRefunded: true })).map(({ kind }) => kind)).toEqual(['paid']);
  expect((await ask({ ...SOLD, isRefunded: true })).at(-1)).toEqual({
    kind: 'refunded',
    about,
    of: about,
    amount: null,
  });
  expect((await ask({ ...SOLD, isDisputed: true })).at(-1)).toMatchObject({
    kind: 'disputed',
    state: 'open',
  });
  expect((await ask({ ...SOLD, isDisputed: true, isDisputeWon: true })).at(-1)).toMatchObject({
    state: 'won',
  });
  expect((await ask({ ...MEMBER, isCancelled: true })).map(({ kind }) => kind)).toEqual(['paid']);
  expect((await ask({ ...MEMBER, isEnded: true })).at(-1)).toEqual({
    kind: 'ended',
    about: `subscription/${MEMBER.subscription}`,
  });
});

test('a membership has ended when its ping says so, and a sale in a list when it is the latest', async () => {
  const ended = { ...MEMBER, isEnded: true };
  const atMs = Date.parse('2027-03-10T12:00:00Z');
  expect((await ask(ended, `ended-at-${atMs}-sale/${SOLD.id}`)).at(-1)).toMatchObject({
    atMs,
    version: atMs,
  });
  const { access } = openApi('token', { '/v2/sales?': { success: true, sales: [sale(ended)] } });
  const soldMs = Date.parse(CREATED);
  expect((await listAll(gumroad, access, soldMs)).facts.at(-1)).toMatchObject({
    kind: 'ended',
    atMs: soldMs,
    version: soldMs,
  });
});

test('a seller’s own purchase is a test, and so is a sale of a test ping until it is known to be none', async () => {
  const own = { ...sale(SOLD), purchaser_id: sale(SOLD).seller_id };
  expect(await ask(own)).toMatchObject([{ isTest: true, version: 1 }]);
  expect(readBody(gumroad, asForm(ping({ ...SOLD, isTest: true })))).toMatchObject({
    asks: [`test-sale/${SOLD.id}`],
  });
  expect(await ask(SOLD, `test-sale/${SOLD.id}`)).toMatchObject([{ isTest: true, version: 0 }]);
  expect((await ask(SOLD))[0]).not.toHaveProperty('isTest');
});

test('a gift is of whoever gets it, and is one purchase', async () => {
  const given = { ...sale(SOLD), giftee_email: 'grace@example.com' };
  expect((await ask(given))[0]).toMatchObject({ kind: 'paid', buyer: { email: 'grace@example.com' } });
  const received = { ...sale(SOLD), is_gift_receiver_purchase: true };
  expect(await ask(received)).toEqual([]);
});

test('Gumroad’s list finds what never came, and what became of sales of the last week', async () => {
  const { access, calls } = openApi('token', {
    '/v2/sales?after=2027-01-03': { success: true, sales: [sale(SOLD)], next_page_key: '20270110-1' },
    '/v2/sales?after=2027-01-03&page_key=20270110-1': {
      success: true,
      sales: [{ id: 'broken' }, sale({ ...SOLD, id: 's2', isRefunded: true })],
    },
  });
  const { facts, pages } = await listAll(gumroad, access, Date.parse(CREATED));
  expect(facts.map(({ kind, about }) => `${kind} ${about}`)).toEqual([
    `paid sale/${SOLD.id}`,
    'paid sale/s2',
    'refunded sale/s2',
  ]);
  expect([pages, calls[0]?.headers]).toEqual([2, { authorization: 'Bearer token' }]);
});

test('an answer of Gumroad’s that says no confirms nothing', async () => {
  const { access } = openApi('token', {
    '/v2/sales/': { success: false, message: 'The sale was not found.' },
  });
  expect(await api.ask!(access, 'sale/forged')).toEqual([]);
});

test('the store’s address is registered once for each resource, in the place of an earlier one', async () => {
  const url = 'https://latchkey.example.com/hooks/sto_1/new';
  const known = [
    { id: 'r1', post_url: 'https://latchkey.example.com/hooks/sto_1/old' },
    { id: 'r2', post_url: 'https://zapier.example.com/x' },
  ];
  const { access, calls } = openApi('token', {
    '/v2/resource_subscriptions': { success: true },
    '/v2/resource_subscriptions?': { success: true, resource_subscriptions: known },
    '/v2/resource_subscriptions?resource_name=sale': {
      success: true,
      resource_subscriptions: [{ id: 'r3', post_url: url }],
    },
  });
  await api.connect!(access, url);
  const made = calls.filter(({ method }) => method === 'PUT').map(({ form }) => form);
  expect(made).toHaveLength(7);
  expect(made[0]).toEqual({ resource_name: 'refund', post_url: url });
  expect(new Set(calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path))).toEqual(
    new Set(['/v2/resource_subscriptions/r1']),
  );
  expect(await api.storeLink!(access, [], null)).toBe('https://app.gumroad.com/library');
});
