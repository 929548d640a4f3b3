import { expect, test } from 'vitest';
import { STORE_PROVIDERS } from '../../src/shared/rules/stores.ts';
import { PROVIDERS } from '../../src/stores/provider/providers.ts';

/** Nothing that these say may come from the notification, which differs from copy to copy. */
const BODIES = ['', '{}', '[]', 'null', '"x"', '{"type":1}', 'a=b&c=d', '\u0000', '{"data":{"object":null}}'];

test('each provider that a store can be of has a module', () => {
  expect(Object.keys(PROVIDERS).toSorted()).toEqual(STORE_PROVIDERS.toSorted());
});

test('no provider fails on a body that it doesn’t know', () => {
  for (const [name, provider] of Object.entries(PROVIDERS)) {
    const kinds = BODIES.map((body) => provider.read({ body, topic: null }).kind);
    expect([name, kinds.includes('facts')]).toEqual([name, false]);
  }
});

test('no provider takes a body that nobody has signed', () => {
  const delivery = { body: new Uint8Array(), headers: new Headers(), token: null, nowMs: Date.now() };
  for (const [name, { isSigned }] of Object.entries(PROVIDERS))
    expect([name, isSigned(delivery, ['whsec_c2VjcmV0']), isSigned(delivery, [])]).toEqual([
      name,
      false,
      false,
    ]);
});
