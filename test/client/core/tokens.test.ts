import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openKeyRing } from '../../../src/client/core/key-ring.ts';
import { checkTime, checkToken, type Expected } from '../../../src/client/core/token.ts';
import { keySetOf, signToken } from '../../../src/tokens/jws.ts';
import { signingKeysOf } from '../../../src/tokens/keys.ts';
import vectors from '../../tokens/vectors.json';
import { ACCOUNT, pinnedKeys, RING } from '../support/fake-service.ts';

const NOW_MS = Date.parse(vectors.now);
const pinned = { account: vectors.account, keys: vectors.keys };
const expected: Expected = {
  account: vectors.account,
  fingerprint: 'machine-0123456789',
  licenseKey: '7K3QD-9WZXA-M2RTB-H5NVE-40GPC',
  product: 'orrery',
};
const [online, file] = vectors.valid;
if (!online || !file) throw new Error('A vector is missing.');

const check = (token: string, more: Partial<Expected> = {}) =>
  checkToken(token, openKeyRing(pinned), { ...expected, ...more });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const [head = '', body = '', signature = ''] = online.token.split('.');
const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as object;

/** Signs with the vectors' own key. */
const signed = async (changes: object) => {
  const [key] = await signingKeysOf([vectors.signing_key], vectors.account);
  if (!key) throw new Error('The ring is empty.');
  return signToken(key, { ...online.claims, ...changes });
};

describe('the test vectors of the service', () => {
  test.for(vectors.valid)('accept $name', async ({ token, claims }) => {
    expect(await check(token)).toEqual(claims);
    expect(checkTime(claims, { nowMs: NOW_MS, markMs: NOW_MS })).toBeNull();
  });

  test.for(vectors.invalid)('refuse $name: $check', async (vector) => {
    const result = await check(vector.token);
    const reason = typeof result === 'string' ? result : checkTime(result, { nowMs: NOW_MS, markMs: 0 });
    expect(reason).toBe(vector.check);
  });
});

describe('a forged token is not taken', () => {
  test('with any byte of a token flipped', async () => {
    for (const { token } of vectors.valid) {
      for (let i = 0; i < token.length; i += 1) {
        for (const bit of [1, 4, 32]) {
          const flipped = String.fromCharCode(token.charCodeAt(i) ^ bit);
          expect(await check(token.slice(0, i) + flipped + token.slice(i + 1))).toBeTypeOf('string');
        }
      }
    }
  });

  test.for(['', '.', '..', 'a.b.c', `${online.token}.`, `${online.token}=`, ` ${online.token}`])(
    'as the text %j',
    async (token) => {
      expect(await check(token)).toBe('malformed');
    },
  );

  test('with the algorithm none, signed or not', async () => {
    const none = encode({ ...header, alg: 'none' });
    expect(await check(`${none}.${body}.`)).toBe('alg');
    expect(await check(`${none}.${body}.${signature}`)).toBe('alg');
  });

  test('with HS256 and the public key as its secret', async () => {
    const content = `${encode({ ...header, alg: 'HS256' })}.${body}`;
    for (const secret of [vectors.keys[0]?.x ?? '', Buffer.from(vectors.keys[0]?.x ?? '', 'base64url')]) {
      const mac = createHmac('sha256', secret).update(content).digest('base64url');
      expect(await check(`${content}.${mac}`)).toBe('alg');
    }
  });

  test('with a key in its header', async () => {
    const [own] = await signingKeysOf(RING, ACCOUNT);
    if (!own) throw new Error('The ring is empty.');
    for (const kid of [own.jwk.kid, vectors.keys[0]?.kid]) {
      const forged = encode({
        ...header,
        kid,
        jwk: own.jwk,
        jku: 'https://evil.test',
        x5u: 'https://evil.test',
      });
      const data = new TextEncoder().encode(`${forged}.${body}`);
      const mac = Buffer.from(await crypto.subtle.sign('Ed25519', own.privateKey, data)).toString(
        'base64url',
      );
      expect(await check(`${forged}.${body}.${mac}`)).toBe(kid === own.jwk.kid ? 'kid' : 'signature');
    }
  });

  test('with typ or kind swapped', async () => {
    expect(await check(online.token, { kind: 'offline' })).toBe('kind');
    expect(await check(file.token, { kind: 'online' })).toBe('kind');
    const keys = await signingKeysOf([RING[1] ?? '', RING[0] ?? ''], ACCOUNT);
    const { chain } = await keySetOf(ACCOUNT, keys);
    const ring = openKeyRing(await pinnedKeys());
    expect(await checkToken(chain[0] ?? '', ring, { account: ACCOUNT })).toBe('typ');
    expect(await ring.follow([online.token])).toEqual([]);
  });
});

describe('a well-signed token is not taken', () => {
  test.for([
    ['for another account', { aud: 'acct_other' }, 'aud'],
    ['for another machine', { fp: 'uu67LGTM0OqOA16TYuDCaxjCTm6TE-l2TO3IdELeZyN' }, 'fp'],
    ['for another license', { lk: 'eB3qb3KlSmsc2J8dyo9UQR' }, 'lk'],
    ['for another product', { product: 'other' }, 'product'],
    ['without numbers as times', { exp: '1796558400' }, 'malformed'],
  ] as const)('%s', async ([, claims, reason]) => {
    expect(await check(await signed(claims))).toBe(reason);
  });

  test('for another nonce', async () => {
    expect(await check(online.token, { nonce: 'nonce-0123456780' })).toBe('nonce');
    expect(await check(online.token, { nonce: 'nonce-0123456789' })).toMatchObject({ valid: true });
  });

  test('with a fingerprint, by an application without one', async () => {
    expect(await check(online.token, { fingerprint: null })).toBe('fp');
    expect(await check(await signed({ fp: null }))).toMatchObject({ valid: true });
  });

  test('and the first failed check is the reason, in the order of the checks', async () => {
    const reasons = [];
    const claims: Record<string, unknown> = {
      aud: 'x',
      fp: 'x',
      lk: 'x',
      product: 'x',
      kind: 'x',
      nonce: 'x',
    };
    for (const name of Object.keys(claims)) {
      reasons.push(await check(await signed(claims), { kind: 'online', nonce: 'nonce-0123456789' }));
      delete claims[name];
    }
    expect(reasons).toEqual(['aud', 'fp', 'lk', 'product', 'kind', 'nonce']);
  });
});

test('a license key is recognized however it was typed', async () => {
  for (const licenseKey of ['7k3qd9wzxam2rtbh5nve40gpc', '7K3QD 9WZXA-M2RTB-H5NVE-4OGPC'])
    expect(await check(online.token, { licenseKey })).toMatchObject({ valid: true });
});

test.for([
  [{ iat: 301, exp: 900 }, 'iat'],
  [{ iat: 300, exp: 900 }, null],
  [{ iat: 0, exp: 0 }, 'exp'],
  [{ iat: 0, exp: 1 }, null],
] as const)('the time of a stored token is judged: %j', ([claims, reason]) => {
  expect(checkTime(claims, { nowMs: 0, markMs: 300_000 })).toBe(reason);
  expect(checkTime(claims, { nowMs: 0, markMs: 300_001 })).toBe(reason ?? 'mark');
});

describe('new signing keys are taken only through the chain from a pinned one', () => {
  const newestFirst = RING.toReversed();

  test('over two rotations', async () => {
    const keys = await signingKeysOf(newestFirst, ACCOUNT);
    const { chain } = await keySetOf(ACCOUNT, keys);
    const ring = openKeyRing(await pinnedKeys());
    expect(ring.find(keys[0]?.jwk.kid)).toBeUndefined();
    expect(await ring.follow(chain)).toEqual(chain);
    expect(ring.find(keys[0]?.jwk.kid)).toMatchObject({ x: keys[0]?.jwk.x });
  });

  test('and not with a link missing, changed, or of another account', async () => {
    const { chain } = await keySetOf(ACCOUNT, await signingKeysOf(newestFirst, ACCOUNT));
    const other = 'acct_0VJ1mKq7XbT2c9LpQwZb';
    const foreign = await keySetOf(other, await signingKeysOf(newestFirst, other));
    const [link = ''] = chain;
    for (const bad of [chain.slice(1), [`${link.slice(0, -2)}AA`], foreign.chain, [5, null, 'x']]) {
      const ring = openKeyRing(await pinnedKeys());
      expect(await ring.follow(bad)).toEqual([]);
    }
    // The same keys, but the links name another account.
    const [key] = await signingKeysOf(RING.slice(0, 1), ACCOUNT);
    const misnamed = openKeyRing({ account: other, keys: key ? [key.jwk] : [] });
    expect(await misnamed.follow(chain)).toEqual([]);
  });
});
