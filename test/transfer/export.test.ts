import { beforeAll, expect, test } from 'vitest';
import { exportLines } from '../../src/transfer/export.ts';
import type { Customer, Json } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';
import { sellerOn } from '../support/worlds.ts';
import { atOnce, exportAfter, exportAll, importAs, ofType, toLines } from './transfer.ts';

/** Small licenses, and then large ones, so that the page before says nothing of the page's size. */
const SMALL = 600;
const LARGE = 1_400;

let seller: Customer;
const keyOf = (i: number) => `KEY-${String(i).padStart(6, '0')}`;

beforeAll(async () => {
  seller = await sellerOn('scale');
  const note = 'é'.repeat(1_900);
  const lines = Array.from({ length: SMALL + LARGE }, (_, i) => ({
    license_key: keyOf(i),
    // Ids follow the order of creation.
    created_at: new Date(Date.UTC(2020, 0, 1) + i * 60_000).toISOString(),
    ...(i >= SMALL && { metadata: { note } }),
  }));
  for (let i = 0; i < lines.length; i += 1_000) await importAs(seller, toLines(lines.slice(i, i + 1_000)));
});

const isData = ({ type }: Json) => type !== 'cursor' && type !== 'end' && type !== 'audit';

test('a page of an export stays small, however much larger its lines are than those before', async () => {
  let largest = 0;
  for await (const page of exportLines(ctxOf(seller.accountId), atOnce))
    largest = Math.max(largest, new TextEncoder().encode(JSON.stringify(page)).length);
  expect(largest).toBeGreaterThan(500_000);
  expect(largest).toBeLessThan(1_500_000);
});

test('an export continues after each of its cursors, and counts the whole file', async () => {
  const whole = await exportAll(seller);
  const cursors = ofType(whole, 'cursor');
  expect(cursors.length).toBeGreaterThan(1);
  for (const cursor of [cursors[0], cursors.at(-1)]) {
    const { lines } = await exportAfter(seller, cursor?.['cursor']);
    const rest = whole.slice(whole.indexOf(cursor) + 1);
    expect(lines.filter(isData)).toEqual(rest.filter(isData));
    expect(lines.at(-1)).toMatchObject({ type: 'end', counts: { license: SMALL + LARGE, account: 1 } });
  }
  expect(ofType(whole, 'license').map(({ license_key }) => license_key)).toEqual(
    Array.from({ length: SMALL + LARGE }, (_, i) => keyOf(i)),
  );
});

test('a cursor whose position is not one of its section is refused', async () => {
  const positions = [
    ['account', ['a']],
    ['products', ['a', 'b']],
    ['products', [1]],
    ['activations', ['lic_a']],
    ['activations', ['lic_a', 1]],
    ['seat_changes', ['lic_a']],
    ['license_changes', ['lic_a', 'x']],
    ['audit', ['a', 'b']],
  ];
  for (const [section, after] of positions) {
    const cursor = Buffer.from(JSON.stringify({ section, after, counts: {} })).toString('base64url');
    const { status, lines } = await exportAfter(seller, cursor);
    expect([section, after, status, lines[0]?.['error']?.code]).toEqual([
      section,
      after,
      400,
      'invalid_request',
    ]);
  }
});

test('an export that is more than a request may read ends with a cursor', async () => {
  const { lines } = await exportAfter(seller, 'AAAA');
  expect(lines[0]?.['error'].details).toEqual([
    { path: 'cursor', message: 'must be the cursor of an export' },
  ]);
  const ctx = ctxOf(seller.accountId);
  const first = (await Array.fromAsync(exportLines(ctx, atOnce, undefined, 4))).flat() as Json[];
  expect(first.at(-1)?.['type']).toBe('cursor');
  const { lines: rest } = await exportAfter(seller, first.at(-1)?.['cursor']);
  const whole = await exportAll(seller);
  expect([...first, ...rest].filter(isData)).toEqual(whole.filter(isData));
});
