import { expect } from 'vitest';
import type { Customer, Json } from './client.ts';
import { accountsD1 } from './databases.ts';

export const list = async (customer: Customer, query: Record<string, string> = {}): Promise<Json> => {
  const path = `/api/v1/licenses?${new URLSearchParams(query).toString()}`;
  const { status, body } = await customer.asSession('GET', path);
  expect([query, status]).toEqual([query, 200]);
  return body;
};
export const products = ({ data }: Json): string[] => data.map(({ product }: Json) => product);

/** Returns the products on every page, with two licenses a page. */
export const allPages = async (customer: Customer, query: Record<string, string> = {}) => {
  const pages: string[][] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await list(customer, { ...query, limit: '2', ...(cursor && { cursor }) });
    pages.push(products(page));
    cursor = page.next_cursor;
  }
  return pages;
};

let inserted = 0;

/** Inserts active licenses directly into D1, which is quicker than creating them. */
export const insertLicenses = async (
  { accountId }: Customer,
  { count, product, expiresAt = null }: { count: number; product: string; expiresAt?: string | null },
) => {
  await accountsD1
    .prepare(
      `WITH RECURSIVE numbers(number) AS (SELECT ? UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
    INSERT INTO licenses
      (account_id, id, license_key, status, product, customer_email, expires_at, metadata, created_at, updated_at)
    SELECT ?, printf('lic_%020d', number), printf('KEY-%08d', number), 'active', ?, 'ada@example.com', ?, '{}', 0, 0
    FROM numbers`,
    )
    .bind(inserted, inserted + count - 1, accountId, product, expiresAt)
    .run();
  inserted += count;
};

/** Numbers the next license as if so many of other accounts had been created meanwhile. */
export const skipNumbers = (count: number) =>
  accountsD1.batch([
    accountsD1.prepare(
      `INSERT INTO sqlite_sequence (name, seq)
       SELECT 'licenses', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'licenses')`,
    ),
    accountsD1.prepare(`UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'licenses'`).bind(count),
  ]);
