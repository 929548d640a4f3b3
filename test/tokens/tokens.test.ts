import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import tokens from '../../conformance/tokens.json';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { type Proof, type SignedVerdict, toClaims } from '../../src/tokens/claims.ts';
import { keySetOf, signToken } from '../../src/tokens/jws.ts';
import { signingKeysOf } from '../../src/tokens/keys.ts';

const ORIGIN = 'https://latchkey.test';
const ACCOUNT = 'acct_0VJ1mKq7XbT2c9LpQwZa';
const [FIRST = '', SECOND = '', THIRD = ''] = [1, 2, 3].map((byte) =>
  Buffer.alloc(32, byte).toString('base64'),
);

const VERDICT: SignedVerdict = {
  valid: true,
  status: 'active',
  expires_at: null,
  code: 'valid',
  license_key: '7K3QD-9WZXA-M2RTB-H5NVE-40GPW',
  license_id: 'lic_0VJ1mKq7XbT2c9LpQwZa',
  product: 'orrery',
  entitlements: { export: true },
  updates_until: null,
  offline_days: 14,
  activation: {
    id: 'act_0VJ1mKq7XbT2c9LpQwZa',
    name: null,
    platform: null,
    activated_at: '2026-11-21T12:00:00.000Z',
    lease_until: null,
  },
  seats: null,
  retry_at: null,
  machines: null,
};
const PROOF: Proof = { kind: 'online', nonce: 'nonce-0123456789', fingerprint: 'machine-0123456789' };

const until = (ms: number) => ({ ...VERDICT.activation, lease_until: new Date(ms).toISOString() });
const claimsOf = (changes: object, nowMs: number, proof = PROOF) =>
  toClaims(ORIGIN, ACCOUNT, { ...VERDICT, ...changes }, proof, nowMs);

const keysOf = (...ring: string[]) => signingKeysOf(ring, ACCOUNT);
const currentKey = async (...ring: string[]) => {
  const [key] = await keysOf(...ring);
  if (!key) throw new Error('The ring is empty.');
  return key;
};
const tokenBy = async (ring: string[], nowMs = Date.now()) =>
  signToken(await currentKey(...ring), claimsOf({}, nowMs));
const jwksOf = async (...ring: string[]): Promise<JSONWebKeySet> => ({
  keys: (await keysOf(...ring)).map(({ jwk }) => jwk),
});

describe('a token', () => {
  test('is accepted by an independent library with the account’s public keys', async () => {
    const token = await tokenBy([FIRST]);
    const options = { issuer: ORIGIN, audience: ACCOUNT, typ: 'latchkey+jwt', algorithms: ['EdDSA'] };
    const { payload } = await jwtVerify(token, createLocalJWKSet(await jwksOf(FIRST)), options);
    expect(payload).toMatchObject({
      sub: VERDICT.license_id,
      kind: 'online',
      valid: true,
      code: 'valid',
      status: 'active',
      nonce: PROOF.nonce,
      act: VERDICT.activation?.id,
      product: 'orrery',
      ent: { export: true },
      license_ends: null,
      lease_until: null,
      updates_until: null,
    });
    expect(token.length).toBeLessThan(1_536);
  });

  test('names neither the license key nor the fingerprint', async () => {
    const text = JSON.stringify(claimsOf({}, 0, { ...PROOF, nonce: null }));
    expect(text).not.toContain(VERDICT.license_key);
    expect(text).not.toContain(PROOF.fingerprint);
  });

  test('is refused with another account’s keys, or another ring’s', async () => {
    const token = await tokenBy([FIRST]);
    const others = await signingKeysOf([FIRST], 'acct_0VJ1mKq7XbT2c9LpQwZb');
    for (const keys of [others.map(({ jwk }) => jwk), (await jwksOf(SECOND)).keys])
      await expect(jwtVerify(token, createLocalJWKSet({ keys }))).rejects.toThrow('no applicable key found');
  });
});

describe('the end of a token', () => {
  const NOW = Date.UTC(2026, 10, 22, 12);
  test.for([
    ['offline_days without contact', {}, NOW + 14 * DAY_MS],
    ['the end of the license’s last day', { expires_at: '2026-11-23' }, Date.UTC(2026, 10, 24)],
    ['the end of the lease', { activation: until(NOW + HOUR_MS) }, NOW + HOUR_MS],
    ['10 minutes for a negative verdict', { valid: false, activation: until(NOW + HOUR_MS) }, NOW + 600_000],
  ] as const)('is %s', ([, fields, expected]) => {
    expect(claimsOf(fields, NOW).exp).toBe(expected / 1_000);
  });
});

describe('the key set', () => {
  test('has the same keys whenever they are derived, the current key first', async () => {
    const [newer, older] = (await keySetOf(ACCOUNT, await keysOf(SECOND, FIRST))).keys;
    expect(older).toEqual((await currentKey(FIRST)).jwk);
    expect(newer).toEqual((await currentKey(SECOND)).jwk);
    expect(Object.keys(newer ?? {}).toSorted()).toEqual(['crv', 'kid', 'kty', 'use', 'x']);
  });

  test('leads a client from its pinned key through two rotations', async () => {
    const pinned = (await currentKey(FIRST)).jwk;
    const { chain } = await keySetOf(ACCOUNT, await keysOf(THIRD, SECOND, FIRST));
    const trusted = [pinned];
    for (const link of chain) {
      const { payload } = await jwtVerify(link, createLocalJWKSet({ keys: trusted }), {
        audience: ACCOUNT,
        typ: 'latchkey+keys',
      });
      const { kid, crv, x } = payload as { kid: string; crv: 'Ed25519'; x: string };
      trusted.push({ kty: 'OKP', use: 'sig', kid, crv, x });
    }
    await expect(
      jwtVerify(await tokenBy([THIRD]), createLocalJWKSet({ keys: trusted })),
    ).resolves.toBeTruthy();
    expect(trusted.at(-1)).toEqual((await currentKey(THIRD)).jwk);
  });

  test('does not lead to the keys of another account', async () => {
    const { chain } = await keySetOf(ACCOUNT, await keysOf(SECOND, FIRST));
    const options = { audience: 'acct_0VJ1mKq7XbT2c9LpQwZb' };
    await expect(jwtVerify(chain[0] ?? '', createLocalJWKSet(await jwksOf(FIRST)), options)).rejects.toThrow(
      'unexpected "aud" claim value',
    );
  });
});

/** What the library says about each failed check that it makes. The others are the application's. */
const MESSAGES: Record<string, string> = {
  malformed: '',
  signature: 'signature verification failed',
  alg: '(Algorithm) Header Parameter value not allowed',
  typ: 'unexpected "typ" JWT header value',
  kid: 'no applicable key found',
  aud: '"aud" claim',
  exp: '"exp" claim timestamp check failed',
};

describe('the conformance tokens', () => {
  const keySet = createLocalJWKSet({ keys: tokens.keys });
  const check = (token: string, now: string) =>
    jwtVerify(token, keySet, {
      audience: tokens.account,
      typ: 'latchkey+jwt',
      algorithms: ['EdDSA'],
      requiredClaims: ['exp', 'iat'],
      currentDate: new Date(now),
    });
  const nowOf = ({ expected = {} }: { expected?: { now?: string } }) =>
    ({ ...tokens.expected, ...expected }).now;

  test.for(tokens.cases.filter(({ result }) => result === 'good'))('are taken: $name', async (good) => {
    await expect(check(good.token, nowOf(good))).resolves.toBeTruthy();
  });

  /** If a set has one key, jose takes it for a token that names none. */
  const refused = tokens.cases.filter(({ name, result }) => result in MESSAGES && name !== 'No key');
  test.for(refused)('are refused for their $result: $name', async (bad) => {
    const message = 'crit' in (bad.header ?? {}) ? 'is not recognized' : MESSAGES[bad.result];
    await expect(check(bad.token, nowOf(bad))).rejects.toThrow(message);
  });

  test('are signed as the service signs', async () => {
    const [first] = tokens.cases;
    expect(await signToken(await currentKey(FIRST), tokens.claims)).toBe(first?.token);
  });
});
