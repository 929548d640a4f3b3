import { expect } from 'vitest';
import { newEvent } from '../../src/shared/text/events.ts';
import type { Customer, Json } from './client.ts';

/** Asks for events as a client that listens. */
export const listen = async ({ asKey }: Customer, query = ''): Promise<Json> => {
  const { status, body } = await asKey('GET', `/api/events${query}`);
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
};

export const anEvent = (ms = Date.now()) =>
  newEvent('license.created', ms, { customer_email: 'grace@example.com' });
