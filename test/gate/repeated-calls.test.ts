import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseApiKey } from '../../src/api-keys/api-key.ts';
import { readReply } from '../../src/gate/rules/calls.ts';
import type { PresentedKey } from '../../src/shared/rules/api-keys.ts';
import type { CallName } from '../../src/shared/rules/verdict.ts';
import { machineOf } from '../support/activations.ts';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, kill, readGate, setUsage, statistics, storedEvents } from '../support/gate.ts';

// The platform repeats a call whose connection was lost, for example by a deploy, with the same arguments.

let ada: Customer;
let licenseKey: string;

beforeEach(async () => {
  useFakeClock();
  ada = await signUp();
  licenseKey = (await ada.createLicense()).license_key;
});

const presentedKey = () => parseApiKey([env.API_KEY_SECRET], ada.apiKey) as PresentedKey;

const verify = async (callId: string) => {
  const reply = readReply(await gate(ada.accountId).verify(presentedKey(), licenseKey, callId));
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

describe('a call on a machine', () => {
  const activations = (columns: string) =>
    readGate<Record<string, string>>(ada.accountId, `SELECT ${columns} FROM activations`);
  const events = async () => (await storedEvents(ada.accountId)).map(({ name }) => name);
  const on = async (call: CallName, callId: string, n = 1) => {
    const input = { license_key: licenseKey, fingerprint: machineOf(n) };
    return gate(ada.accountId).application(presentedKey(), call, input, callId);
  };

  const verdict = async (...call: Parameters<typeof on>) => {
    const reply = readReply(await on(...call));
    return reply.refused ?? reply.verdict;
  };

  beforeEach(async () => {
    licenseKey = (await ada.createLicense({ terms: { max_activations: 1 } })).license_key;
  });

  test.for(['verify', 'activate', 'heartbeat', 'deactivate'] as const)(
    'a repeated %s gets the same verdict, and counts once',
    async (call) => {
      await on('activate', 'call-1');
      const first = await verdict(call, 'call-2');
      const before = await apiUsage();
      await on('verify', 'call-3');
      expect(await Promise.all([verdict(call, 'call-2'), verdict(call, 'call-2')])).toEqual([first, first]);
      expect(await apiUsage()).toBe(before + 1);
    },
  );

  test('a repeated activation has one seat and one event, also after a restart', async () => {
    await on('activate', 'call-1');
    const [taken] = await activations('id');
    await kill(ada.accountId);
    const reply = readReply(await on('activate', 'call-1'));
    expect(reply).toMatchObject({ verdict: { code: 'valid', activation: taken }, apiUsage: 1 });
    expect(await activations('id')).toEqual([taken]);
    expect((await events()).filter((name) => name === 'activation.created')).toHaveLength(1);
  });

  test('a repeated deactivation does not release the seat that the machine has taken since', async () => {
    await on('activate', 'call-1');
    await on('deactivate', 'call-2');
    await on('activate', 'call-3');
    expect(await verdict('deactivate', 'call-2')).toMatchObject({ code: 'deactivated' });
    expect(await verdict('verify', 'call-4')).toMatchObject({ code: 'valid' });
  });

  test('a repeated activation does not take the seat that was released since', async () => {
    await on('activate', 'call-1');
    await on('deactivate', 'call-2');
    expect(await verdict('activate', 'call-1')).toMatchObject({ code: 'not_activated' });
    expect(await verdict('activate', 'call-3', 2)).toMatchObject({ code: 'valid' });
  });

  test('a repeated activation that found no seat takes one that is free by now', async () => {
    await on('activate', 'call-1', 2);
    expect(await verdict('activate', 'call-2')).toMatchObject({ code: 'no_seat' });
    await on('deactivate', 'call-3', 2);
    expect(await verdict('activate', 'call-2')).toMatchObject({ code: 'valid' });
    expect(await apiUsage()).toBe(2);
  });
});

test('a repeated announcement reserves one call, and a repeated abandonment drops one', async () => {
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
