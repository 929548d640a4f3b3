import { expect, test } from 'vitest';
import { hasSignature, hmac, isRecent } from '../../src/stores/provider/signatures.ts';

test('an HMAC-SHA256 is that of RFC 4231, however the message is cut', () => {
  const right = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  expect(hmac('Jefe', ['what do ya want for nothing?'], 'hex')).toBe(right);
  expect(hmac('Jefe', ['what do ya ', new TextEncoder().encode('want for nothing?')], 'hex')).toBe(right);
});

test('one of several signatures is enough', () => {
  expect(hasSignature(['aa', 'bb'], ['cc', 'bb'])).toBe(true);
  expect(hasSignature(['aa', 'b'], ['cc', 'bb'])).toBe(false);
  expect(hasSignature([], ['bb'])).toBe(false);
});

test('a signature is good for five minutes, whichever clock is ahead', () => {
  const nowMs = 1_000_000_000;
  expect([700, -300, 300].map((offset) => isRecent(String(1_000_000 + offset), nowMs))).toEqual([
    false,
    true,
    true,
  ]);
  expect([null, '', '1e6', '-5', ' 1000000'].map((text) => isRecent(text, nowMs))).toEqual(
    Array(5).fill(false),
  );
});
