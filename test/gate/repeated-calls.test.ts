import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import { parseApiKey } from '../../src/auth/api-key.ts';
import { readReply } from '../../src/gate/replies.ts';
import type { PresentedKey } from '../../src/shared/presented-key.ts';
import { type Customer, signUp } from '../support/client.ts';
import { evict, gate, kill, setUsage, statistics } from '../support/gate.ts';

// The platform repeats a call whose connection was lost, for example by a deploy, with the same arguments.

let ada: Customer;
let licenseKey: string;

beforeEach(async () => {
  ada = await signUp();
  licenseKey = (await ada.createLicense()).license_key;
});

const verify = async (callId: string) => {
  const key = parseApiKey(env.API_KEY_SECRET, ada.apiKey) as PresentedKey;
  const reply = readReply(await gate(ada.accountId).verify(key, licenseKey, callId));
  return reply.refused ?? `${reply.verdict.status} ${reply.apiUsage}`;
};

const apiUsage = async () => (await statistics(ada.accountId)).apiUsage;

test('a repeated verify is counted once', async () => {
  expect(await verify('call-1')).toBe('active 1');
  expect(await verify('call-2')).toBe('active 2');
  expect(await verify('call-1')).toBe('active 2');
  expect(await Promise.all([verify('call-3'), verify('call-3')])).toEqual(['active 3', 'active 3']);
  expect(await apiUsage()).toBe(3);
});

test('a verify whose reply was lost in a restart is counted once', async () => {
  await verify('call-1');
  await verify('call-2');
  await kill(ada.accountId);
  expect(await verify('call-2')).toBe('active 2');
  expect(await verify('call-1')).toBe('active 2');
  expect(await verify('call-3')).toBe('active 3');
  await evict(ada.accountId);
  expect(await verify('call-2')).toBe('active 3');
  expect(await apiUsage()).toBe(3);
});

test('the usage limit doesn’t refuse a repeat of the last call', async () => {
  await setUsage(ada.accountId, 999);
  expect(await verify('call-1')).toBe('active 1000');
  expect(await verify('call-1')).toBe('active 1000');
  expect(await verify('call-2')).toBe('usage_limit_exceeded');
});

test('a repeated announcement is counted once, and a repeated abandonment is refunded once', async () => {
  const announce = (token: string) =>
    gate(ada.accountId).announce('lic_new', { call: 'create', claim: null }, token);
  expect(await announce('change-1')).toEqual(await announce('change-1'));
  await announce('change-2');
  expect(await apiUsage()).toBe(2);
  await kill(ada.accountId);
  await announce('change-2');
  expect(await apiUsage()).toBe(2);
  await gate(ada.accountId).abandon('change-1');
  await gate(ada.accountId).abandon('change-1');
  expect(await apiUsage()).toBe(1);
});
