import { describe, expect, test } from 'vitest';
import { openKeyRing } from '../../../src/client/core/key-ring.ts';
import { checkTime, checkToken, type Expected } from '../../../src/client/core/token.ts';
import { keyNumber, signAnything } from '../../conformance/cases/signing.ts';
import { readConformance } from '../conformance/files.ts';

// What test/client/conformance doesn't show, because other languages needn't do likewise.

const tokens = readConformance('tokens.json');
const goodTokens = tokens.cases.filter(({ result, expected }) => result === 'good' && !expected);
const [online = ''] = goodTokens.map(({ token }) => token);

const check = (token: string, more: Partial<Expected> = {}) =>
  checkToken(token, openKeyRing({ account: tokens.account, keys: tokens.keys }), {
    account: tokens.account,
    fingerprint: tokens.expected.fingerprint,
    licenseKey: tokens.expected.license_key,
    product: 'orrery',
    ...more,
  });

describe('a forged token is not taken', () => {
  test('with any byte of a token flipped', async () => {
    for (const { token } of goodTokens.slice(0, 3)) {
      for (let i = 0; i < token.length; i += 1) {
        for (const bit of [1, 4, 32]) {
          const flipped = String.fromCharCode(token.charCodeAt(i) ^ bit);
          expect(await check(token.slice(0, i) + flipped + token.slice(i + 1))).toBeTypeOf('string');
        }
      }
    }
  });

  test.for(['', '.', '..', 'a.b.c', `${online}.`, `${online}=`, ` ${online}`])(
    'as the text %j',
    async (token) => {
      expect(await check(token)).toBe('malformed');
    },
  );
});

test('the first failed check is the reason, in the order of the checks', async () => {
  const key = await keyNumber(1);
  const header = { alg: 'EdDSA', typ: 'latchkey+jwt', kid: key.jwk.kid };
  const reasons = [];
  const claims: Record<string, unknown> = { aud: 'x', fp: 'x', lk: 'x', product: 'x', kind: 'x', nonce: 'x' };
  for (const name of Object.keys(claims)) {
    const token = await signAnything(key, header, { ...tokens.claims, ...claims });
    reasons.push(await check(token, { kind: 'online', nonce: 'nonce-0123456789' }));
    delete claims[name];
  }
  expect(reasons).toEqual(['aud', 'fp', 'lk', 'product', 'kind', 'nonce']);
});

test.for([
  [{ iat: 301, exp: 900 }, 'iat'],
  [{ iat: 300, exp: 900 }, null],
  [{ iat: 0, exp: 0 }, 'exp'],
  [{ iat: 0, exp: 1 }, null],
] as const)('the time of a stored token is judged: %j', ([claims, reason]) => {
  expect(checkTime(claims, { ownMs: 0, offsetMs: 0, markMs: 300_000 })).toBe(reason ?? 0);
  expect(checkTime(claims, { ownMs: 0, offsetMs: 0, markMs: 300_001 })).toBe(reason ?? 'mark');
});
