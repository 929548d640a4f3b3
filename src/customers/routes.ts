import { Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { listCustomers } from './list.ts';
import { customerListBody, listCustomersQuery } from './schemas.ts';

export const customerRoutes = new Hono<AppEnv>().get(
  '/',
  endpoint({
    id: 'listCustomers',
    tag: 'Licenses',
    summary: 'List customers',
    description:
      'Lists the customers of the account’s licenses by email address. Addresses that differ only in upper and lower case are one customer, and erased customers are left out. A page can have fewer customers than `limit`, or none, even if more follow: the list ends where `next_cursor` is null. `GET /api/v1/licenses?customer_email=` has a customer’s licenses.',
    access: 'account',
    query: listCustomersQuery,
    answers: [{ status: 200, description: 'A page of customers.', schema: customerListBody }],
  }),
  async (c) => c.json(await listCustomers(c.var.ctx, c.req.valid('query')), 200),
);
