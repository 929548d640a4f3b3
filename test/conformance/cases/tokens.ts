import { createHmac } from 'node:crypto';
import type { SigningKey } from '../../../src/tokens/keys.ts';
import { ACCOUNT, FINGERPRINT, LICENSE_KEY, OTHER_ACCOUNT, PRODUCT, START } from '../world.ts';
import { claimsOf, keyNumber, NOW_MS, signAnything } from './signing.ts';

/** What a token has to be for. A nonce is for an answer, and null for a stored token. */
const EXPECTED = {
  license_key: LICENSE_KEY,
  fingerprint: FINGERPRINT as string | null,
  product: PRODUCT as string | null,
  kind: 'online',
  nonce: null as string | null,
  now: START,
};

interface TokenCase {
  name: string;
  /** The check that the case is about. */
  check: string;
  /** Whether the token passes it, and all others. */
  isGood: boolean;
  expected?: Partial<typeof EXPECTED>;
  header?: object;
  claims?: object;
  /** Changes the signed token. */
  damage?: (token: string) => string;
  key?: SigningKey;
}

const BASE = claimsOf();
const DAY_MS = 86_400_000;
const at = (seconds: number) => ({ now: new Date(NOW_MS + seconds * 1_000).toISOString() });
const no = (code: 'suspended' | 'not_found', changes: Parameters<typeof claimsOf>[0] = {}) =>
  claimsOf({ valid: false, code, status: code, activation: null, ...changes });
const part = (token: string, index: number) => token.split('.')[index] ?? '';
const encode = (text: string) => Buffer.from(text).toString('base64url');
/** Another claim under the same signature. */
const withClaims = (token: string, claims: object) =>
  [part(token, 0), encode(JSON.stringify(claims)), part(token, 2)].join('.');
const without = <T extends object>(claims: T, name: keyof T) =>
  Object.fromEntries(Object.entries(claims).filter(([other]) => other !== name));

/** The code of the state if there is nothing but this token, and no network. */
const CODES: Record<string, string> = { exp: 'offline_expired', iat: 'clock_rolled_back' };

const casesOf = async (): Promise<TokenCase[]> => {
  const own = await keyNumber(1);
  const second = await keyNumber(2);
  const foreign = await keyNumber(1, OTHER_ACCOUNT);
  const { kid } = own.jwk;
  const macOf = (token: string) => {
    const content = `${encode(JSON.stringify({ alg: 'HS256', typ: 'latchkey+jwt', kid }))}.${part(token, 1)}`;
    const secret = Buffer.from(own.jwk.x, 'base64url');
    return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
  };
  const none = encode(JSON.stringify({ alg: 'none', typ: 'latchkey+jwt', kid }));
  const good = (check: string, name: string, more: Partial<TokenCase> = {}) => ({ name, check, isGood: true, ...more });
  const bad = (check: string, name: string, more: Partial<TokenCase>) => ({ name, check, isGood: false, ...more });
  const unlimited = claimsOf({ fingerprint: null, activation: null });
  const file = claimsOf({ kind: 'offline', nonce: null, offline_days: 180 });

  return [
    good('malformed', 'A stored token of an answer'),
    bad('malformed', 'No text', { damage: () => '' }),
    bad('malformed', 'Two parts', { damage: (token) => token.slice(0, token.lastIndexOf('.')) }),
    bad('malformed', 'Four parts', { damage: (token) => `${token}.e30` }),
    bad('malformed', 'Claims that are no object', { claims: [] }),
    bad('malformed', 'An end that is text', { claims: { ...BASE, exp: String(BASE.exp) } }),
    bad('malformed', 'No end', { claims: without(BASE, 'exp') }),
    good('typ', 'A type that is a token’s'),
    bad('typ', 'A type that is any JWT’s', { header: { typ: 'JWT' } }),
    bad('typ', 'No type', { header: { typ: undefined } }),
    bad('typ', 'A link of the key chain', { header: { typ: 'latchkey+keys' } }),
    good('alg', 'EdDSA'),
    bad('alg', 'None, without a signature', { damage: (token) => `${none}.${part(token, 1)}.` }),
    bad('alg', 'None, with a signature', { damage: (token) => `${none}.${part(token, 1)}.${part(token, 2)}` }),
    bad('alg', 'HS256 with the public key as its secret', { damage: macOf }),
    bad('alg', 'A header that the application must understand', { header: { crit: ['exp'] } }),
    good('kid', 'A pinned key'),
    bad('kid', 'A key that is not pinned', { key: second, header: { kid: second.jwk.kid } }),
    bad('kid', 'No key', { header: { kid: undefined } }),
    bad('kid', 'A key that the token brings', {
      key: foreign,
      header: { kid: foreign.jwk.kid, jwk: foreign.jwk, jku: 'https://evil.test', x5u: 'https://evil.test' },
    }),
    good('signature', 'The pinned key’s'),
    bad('signature', 'A key that the token brings, under the pinned key’s name', {
      key: foreign,
      header: { jwk: foreign.jwk },
    }),
    bad('signature', 'Another account’s key', { key: foreign }),
    bad('signature', 'A changed claim', { damage: (token) => withClaims(token, { ...BASE, exp: BASE.exp + 1 }) }),
    bad('signature', 'A changed signature', {
      damage: (token) => `${token.slice(0, -20)}${token.at(-20) === 'A' ? 'B' : 'A'}${token.slice(-19)}`,
    }),
    bad('signature', 'An empty signature', { damage: (token) => token.slice(0, token.lastIndexOf('.') + 1) }),
    good('aud', 'The pinned account'),
    bad('aud', 'Another account', { claims: { ...BASE, aud: OTHER_ACCOUNT } }),
    bad('aud', 'No account', { claims: without(BASE, 'aud') }),
    good('fp', 'This machine'),
    good('fp', 'No machine, for a license without a limit of seats', { claims: unlimited }),
    good('fp', 'No machine, for an application without a fingerprint', {
      claims: unlimited,
      expected: { fingerprint: null },
    }),
    bad('fp', 'Another machine', { expected: { fingerprint: 'machine-9876543210' } }),
    bad('fp', 'A machine, for an application without a fingerprint', { expected: { fingerprint: null } }),
    good('lk', 'The license key as it is stored'),
    good('lk', 'The license key as it was typed', { expected: { license_key: LICENSE_KEY.toLowerCase().replaceAll('-', '') } }),
    bad('lk', 'Another license key', { expected: { license_key: '16BGN-TZ49E-KRX27-CHPV0-5AFMN' } }),
    good('valid', 'A signed no', { claims: no('suspended') }),
    good('valid', 'A signed no about no license, and so about no product', {
      claims: no('not_found', { license_id: null, product: null, entitlements: {} }),
    }),
    good('product', 'This product'),
    good('product', 'Any product, for an application that names none', { expected: { product: null } }),
    bad('product', 'Another product', { expected: { product: 'other' } }),
    good('kind', 'An answer'),
    good('kind', 'An offline file', { claims: file, expected: { kind: 'offline' } }),
    bad('kind', 'An offline file instead of an answer', { claims: file }),
    bad('kind', 'An answer instead of an offline file', { expected: { kind: 'offline' } }),
    good('nonce', 'The nonce of the call', { expected: { nonce: BASE.nonce } }),
    good('nonce', 'The nonce of the call, on a machine whose clock is a year behind', {
      expected: { nonce: BASE.nonce, ...at(-365 * 86_400) },
    }),
    bad('nonce', 'The nonce of another call', { expected: { nonce: 'nonce-9876543210' } }),
    bad('nonce', 'No nonce', { claims: { ...BASE, nonce: null }, expected: { nonce: BASE.nonce } }),
    good('iat', 'Issued in 300 seconds', { expected: at(-300) }),
    bad('iat', 'Issued in 301 seconds', { expected: at(-301) }),
    good('exp', 'One second before the end', { expected: at((14 * DAY_MS) / 1_000 - 1) }),
    bad('exp', 'At the end', { expected: at((14 * DAY_MS) / 1_000) }),
    good('exp', 'The end of the license’s last day', {
      claims: claimsOf({ expires_at: '2026-11-23' }),
      expected: { now: '2026-11-23T23:59:59.000Z' },
    }),
    bad('exp', 'The day after the license’s last day', {
      claims: claimsOf({ expires_at: '2026-11-23' }),
      expected: { now: '2026-11-24T00:00:00.000Z' },
    }),
    bad('exp', 'The end of the lease', {
      claims: claimsOf({
        activation: { id: BASE.act ?? '', name: null, platform: null, activated_at: START, lease_until: at(900).now },
      }),
      expected: at(900),
    }),
  ];
};

/** What the claims say otherwise than the base, and which of them they lack. */
const differences = (claims: object) => {
  const says = Object.entries(claims).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(BASE[name as keyof typeof BASE]),
  );
  const lacks = Object.keys(BASE).filter((name) => !(name in claims));
  return { ...(says.length > 0 && { says: Object.fromEntries(says) }), ...(lacks.length > 0 && { lacks }) };
};

export const tokenCases = async () => {
  const own = await keyNumber(1);
  const cases = [];
  for (const { name, check, isGood, expected, header, claims = BASE, damage, key = own } of await casesOf()) {
    const fullHeader = { alg: 'EdDSA', typ: 'latchkey+jwt', kid: own.jwk.kid, ...header };
    const signed = await signAnything(key, fullHeader, claims);
    const code = isGood ? (claims as typeof BASE).code : (CODES[check] ?? 'inconclusive');
    cases.push({
      check,
      name,
      result: isGood ? 'good' : check,
      code,
      ...(expected && { expected }),
      ...(header && { header }),
      ...(Array.isArray(claims) ? { says: claims } : differences(claims)),
      token: damage ? damage(signed) : signed,
    });
  }
  return {
    about:
      'Tokens in the passing and the failing form of each check. README.md says what the fields mean. The keys are published: never trust them.',
    account: ACCOUNT,
    keys: [own.jwk],
    expected: EXPECTED,
    claims: BASE,
    cases,
  };
};
