import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect } from 'vitest';
import type { PlanName } from '../../src/shared/rules/plans.ts';
import { call, type Json, ORIGIN, signUp } from './client.ts';
import { setPlan } from './gate.ts';

export const machineOf = (n: number) => `machine-${String(n).padStart(4, '0')}`;

/** A new account with a license of a product that has these terms. `on` makes one of the four calls on a machine. */
export const openLicense = async (terms: Json, fields: Json = {}, plan: PlanName = 'free') => {
  const customer = await signUp();
  if (plan !== 'free') await setPlan(customer.accountId, plan);
  const product = await customer.asKey('PUT', '/api/v1/products/orrery', { terms });
  expect(product.status).toBe(201);
  const license = await customer.createLicense({ product: 'orrery', ...fields });
  const send = async (path: string, sent: Json = {}) =>
    (await customer.asKey('POST', `/api/v1/licenses/${path}`, { license_key: license.license_key, ...sent }))
      .body;
  const on = (path: string, n: number, sent: Json = {}) => send(path, { fingerprint: machineOf(n), ...sent });
  return { customer, license, send, on };
};

/** Returns the claims of a token, which the account's public keys must accept. */
export const claimsOf = async ({ accountId }: { accountId: string }, token: string): Promise<Json> => {
  const { body } = await call('GET', `/api/v1/jwks/${accountId}`);
  const options = { issuer: ORIGIN, audience: accountId, typ: 'latchkey+jwt', algorithms: ['EdDSA'] };
  return (await jwtVerify(token, createLocalJWKSet(body as JSONWebKeySet), options)).payload;
};
