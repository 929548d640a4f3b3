import { expect } from 'vitest';
import type { Customer, Json } from './client.ts';

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
