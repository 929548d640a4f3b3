import { expect, test } from 'vitest';
import { type Json, signUp } from '../support/client.ts';
import { list } from '../support/licenses.ts';
import { importAs } from '../transfer/transfer.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

test.for<Record<string, string>>([
  {},
  { status: 'active' },
  { status: 'expired' },
  { q: 'orrery' },
  { q: 'ann@example.com' },
  { q: 'orrery', status: 'active' },
  { sort: 'expires_at' },
  { sort: '-customer_email' },
])('the list %j goes on after a license that was deleted between two pages', async (query) => {
  const ada = await signUp();
  const expired = query.status === 'expired' && { expires_at: '2025-01-31' };
  await importAs(
    ada,
    NAMES.map((name) =>
      JSON.stringify({
        product: 'Orrery',
        customer_email: 'ann@example.com',
        customer_name: name,
        ...expired,
      }),
    ).join('\n'),
  );
  const found: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Json = await list(ada, { ...query, limit: '2', ...(cursor && { cursor }) });
    found.push(...page.data.map((license: Json) => license.customer_name));
    const { id } = page.data.at(-1) ?? {};
    if (id) await ada.asSession('DELETE', `/api/v1/licenses/${id}`);
    cursor = page.next_cursor;
  }
  expect(found.toSorted()).toEqual(NAMES);
});
