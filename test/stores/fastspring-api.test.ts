import { expect, test } from 'vitest';
import { fastspring } from '../../src/stores/provider/fastspring.ts';
import { account, body, order, subscription } from './bodies/fastspring.ts';
import { listAll, openApi } from './module.ts';

const api = fastspring.api!;
const nowMs = Date.now();
const soldMs = nowMs - 3_600_000;

/** The events of a double, of which a page has two. */
const pageOf = (all: { created: number }[]) => (path: string) => {
  const query = new URL(path, 'https://api.example.com').searchParams;
  const within = all.filter(
    ({ created }) => created >= Number(query.get('begin')) && created < Number(query.get('end')),
  );
  return { action: 'events.getall', result: 'success', events: within.slice(0, 2), more: within.length > 2 };
};

const eventsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    ...body([{ type: 'order.completed', data: order({ id: `o${i}`, changed: soldMs }) }]).events[0]!,
    created: soldMs + i * 1_000,
  }));

test('FastSpring’s list of events finds what never came, whichever comes first on a page', async () => {
  for (const events of [eventsOf(5), eventsOf(5).toReversed()]) {
    const { access, calls } = openApi('user:secret', {
      '/events/unprocessed': pageOf(events),
      '/events/processed': pageOf([]),
    });
    const { facts } = await listAll(fastspring, access, nowMs - 86_400_000);
    expect([...new Set(facts.map(({ about }) => about))].toSorted()).toEqual([
      'order/o0',
      'order/o1',
      'order/o2',
      'order/o3',
      'order/o4',
    ]);
    expect(calls[0]?.headers).toMatchObject({ authorization: 'Basic dXNlcjpzZWNyZXQ=' });
  }
});

test('FastSpring’s API tells what an event has only the id of', async () => {
  const of = { id: 'sub1', begin: soldMs, changed: soldMs, next: nowMs + 86_400_000 };
  const { access } = openApi('user:secret', {
    '/subscriptions/sub1': subscription(of),
    '/orders/o1': { orders: [order({ id: 'o1', changed: soldMs })] },
    '/accounts/acctAbCdEfG123': account(),
    '/accounts/acctAbCdEfG123/authenticate': {
      accounts: [{ url: 'https://orrery.onfastspring.com/account?token=x' }],
    },
  });
  const kindsOf = async (ask: string) => (await api.ask!(access, ask)).map(({ kind }) => kind);
  expect(await kindsOf('subscription/sub1')).toEqual(['ordered', 'renews', 'buyer']);
  expect(await kindsOf('order/o1')).toEqual(['paid', 'buyer']);
  expect(await api.storeLink!(access, ['order/o1'], 'customer/acctAbCdEfG123')).toMatch('onfastspring.com');
  expect(await api.storeLink!(access, ['order/o1'], null)).toBeNull();
});

test('a key of FastSpring’s has a name and a password', () => {
  expect(['user:secret', 'secret', ':x', ''].map((key) => api.keyProblem!(key) === null)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
