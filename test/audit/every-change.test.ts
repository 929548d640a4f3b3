import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import {
  APPLICATION_CALLS,
  callRoute,
  expectAbsent,
  nameOf,
  routesWithId,
  SERVICE_SECRETS,
} from '../http/security.ts';
import { storedEntries } from '../support/audit.ts';
import { type Answer, type Json, signUp } from '../support/client.ts';
import { keepMails } from '../support/mails.ts';
import { OPERATOR_TOKEN, withOperatorToken } from '../support/operator.ts';
import { newReceiver } from '../support/receiver.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { EXCEPTIONS, STEPS } from './steps.ts';
import { PRIVATE, take, type World } from './world.ts';

const CHANGING_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

const SECRET_FIELDS = /^(?:api_key|token|secret|license_key|otpauth_url|recovery_codes)$/;

/** Returns the strings in the fields of a body that have a secret. */
const secretsIn = (value: Json, isSecret = false): string[] => {
  if (typeof value === 'string') return isSecret ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    secretsIn(field, isSecret || SECRET_FIELDS.test(name)),
  );
};

test('every route that changes something is among the calls of the next test, or is an exception', () => {
  const names = app.routes.filter(({ method }) => CHANGING_METHODS.has(method)).map(nameOf);
  const missing = [...new Set(names)].filter(
    (name) => !EXCEPTIONS.includes(name) && !STEPS.some(({ route }) => route === name),
  );
  expect(missing).toEqual([]);
});

test('every change of an account and every revealed secret leaves one entry, without secrets', async () => {
  const stop = withOperatorToken();
  keepMails();
  const [ada, eve] = [await signUp(), await signUp()];
  const { url } = await newReceiver();
  const secrets = [...SERVICE_SECRETS, OPERATOR_TOKEN, ada.apiKey, ada.token, ada.password, ada.email, url];
  const world: World = { ada, eve, ids: { products: 'orrery' }, answers: {}, url, secrets };
  let before = await storedEntries();
  for (const step of STEPS) {
    const { status, body } = await take(step, world);
    const after = await storedEntries();
    const added = after.slice(before.length).map(({ action }) => action);
    expect([step.route, status < 300 || body, added]).toEqual([
      step.route,
      true,
      [step.leaves, ...(step.alsoLeaves ?? [])],
    ]);
    secrets.push(...secretsIn(body));
    before = after;
  }
  stop();
  expect(secrets.length).toBeGreaterThan(15);
  expectAbsent(JSON.stringify(before), [...secrets, ...Object.values(PRIVATE)]);
});

test('refused calls and the calls of applications leave no entry', async () => {
  const { ada, license } = await sellerWithLicense();
  const before = await storedEntries();
  for (const path of APPLICATION_CALLS) {
    const body = { license_key: license.license_key, fingerprint: PRIVATE.fingerprint };
    expect([path, (await ada.asKey('POST', path, body)).status]).toEqual([path, 200]);
  }
  const refusals: [string, Answer][] = [];
  const headers = { authorization: `Bearer ${ada.token}` };
  for (const route of routesWithId) {
    const name = nameOf(route);
    // Every account may choose this product code.
    if (name !== 'PUT /api/v1/products/:code') refusals.push([name, await callRoute(route, headers)]);
  }
  const license_key: string = license.license_key;
  for (const [path, body] of [
    ['/api/v1/licenses/create', { license_key }],
    [`/api/v1/licenses/${license.id}/rotate-key`, { license_key }],
    [`/api/v1/licenses/${license.id}/reinstate`, {}],
    ['/api/login', { email: ada.email, password: 'wrong horse battery' }],
    ['/api/register', { email: ada.email, password: PRIVATE.password }],
    ['/api/webhooks', { url: 'http://example.com' }],
    ['/api/cancel-subscription', {}],
    ['/api/resume-subscription', {}],
  ] as const)
    refusals.push([path, await ada.asSession('POST', path, body)]);
  expect(refusals.filter(([, { status }]) => status < 400)).toEqual([]);
  expect(await storedEntries()).toEqual(before);
});
