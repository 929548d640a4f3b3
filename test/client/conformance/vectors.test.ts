import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openKeyRing } from '../../../src/client/core/key-ring.ts';
import { createLicenseOn } from '../../../src/client/core/license.ts';
import { EMPTY_RECORD } from '../../../src/client/core/record.ts';
import { checkTime, checkToken } from '../../../src/client/core/token.ts';
import type { LicenseOptions, PublicKey } from '../../../src/client/core/types.ts';
import { fingerprintOn } from '../../conformance/cases/fingerprints.ts';
import { keyNumber, signAnything } from '../../conformance/cases/signing.ts';
import { createTime } from '../support/fake-time.ts';
import { CONFORMANCE, readConformance } from './files.ts';

// The client package against the files of conformance/, as a client in another language would run them.

const tokens = readConformance('tokens.json');
const chains = readConformance('key-chains.json');
const files = readConformance('offline-files.json');
const spellings = readConformance('key-spellings.json');
const fingerprints = readConformance('fingerprints.json');

/** An application without a network, whose store has a record. */
const offline = (now: string, record: object, options: Partial<LicenseOptions>) => {
  const time = createTime(Date.parse(now));
  const license = createLicenseOn(
    {
      baseUrl: 'https://latchkey.test',
      apiKey: 'lk_test',
      keys: { account: tokens.account, keys: tokens.keys },
      store: { get: async () => JSON.stringify({ ...EMPTY_RECORD, ...record }), set: async () => {} },
      fetch: () => Promise.reject(new TypeError('fetch failed')),
      now: time.now,
      ...options,
    },
    time.runtime,
  );
  return { time, license };
};

describe('tokens.json', () => {
  test.for(tokens.cases)('$check: $name', async ({ token, result, code, expected }) => {
    const { license_key, fingerprint, product, kind, nonce, now } = { ...tokens.expected, ...expected };
    const ring = openKeyRing({ account: tokens.account, keys: tokens.keys });
    const claims = await checkToken(token, ring, {
      account: tokens.account,
      fingerprint,
      licenseKey: license_key,
      product: product ?? undefined,
      kind: kind as 'online',
      nonce: nonce ?? undefined,
    });
    const clock = { ownMs: Date.parse(now), offsetMs: 0, markMs: 0 };
    const time = typeof claims === 'string' || nonce !== null ? claims : checkTime(claims, clock);
    expect(typeof time === 'string' ? time : 'good').toBe(result);
    // A signed no isn't stored.
    if (nonce !== null || (typeof claims !== 'string' && !claims.valid)) return;
    const record = { licenseKey: license_key, [kind === 'offline' ? 'file' : 'token']: token };
    const options = { fingerprint: fingerprint ?? undefined, product: product ?? undefined };
    const { time: fake, license } = offline(now, record, options);
    const state = await fake.drive(license.start());
    await fake.drive(license.stop());
    expect([state.code, state.valid]).toEqual([code, code === 'valid']);
  });

  test('has the passing and the failing form of each check', () => {
    const forms = new Map<string, Set<boolean>>();
    for (const { check, result } of tokens.cases)
      forms.set(check, (forms.get(check) ?? new Set()).add(result === 'good'));
    for (const [check, results] of forms) expect([check, results.size]).toEqual([check, check === 'valid' ? 1 : 2]);
    expect([...forms.keys()].toSorted()).toEqual(
      ['alg', 'aud', 'exp', 'fp', 'iat', 'kid', 'kind', 'lk', 'malformed', 'nonce', 'product', 'signature', 'typ', 'valid'],
    );
  });
});

test.for(chains.cases)('key-chains.json: $name', async ({ pinned, chain, trusts, result }) => {
  const isIn = (kids: string[]) => chains.keys.filter(({ kid }) => kids.includes(kid));
  const ring = openKeyRing({ account: chains.account, keys: isIn(pinned) });
  await ring.follow(chain);
  const xOf = (key: PublicKey | undefined) => key?.x;
  for (const { kid, x } of chains.keys) expect(xOf(ring.find(kid))).toBe(trusts.includes(kid) ? x : undefined);
  const claims = await checkToken(chains.token, ring, { account: chains.account });
  expect(typeof claims === 'string' ? claims : 'good').toBe(result);
});

test.for(files.cases)('offline-files.json: $name', async ({ text, code, application, now }) => {
  const { license_key, fingerprint, product, release_date } = { ...files.application, ...application };
  const options = {
    product,
    fingerprint: fingerprint ?? undefined,
    releaseDate: release_date ?? undefined,
    keys: { account: files.account, keys: files.keys },
  };
  const { time, license } = offline(now ?? files.now, { licenseKey: license_key }, options);
  await time.drive(license.start());
  const loaded = await license.loadFile(text);
  expect([loaded.code, loaded.valid]).toEqual([code, code === 'valid']);
  expect(license.state.valid).toBe(code === 'valid');
  await time.drive(license.stop());
});

test.for(spellings.cases)('key-spellings.json: $stored', async ({ stored, lk, typed, others }) => {
  const ring = openKeyRing({ account: tokens.account, keys: tokens.keys });
  const key = await keyNumber(1);
  const header = { alg: 'EdDSA', typ: 'latchkey+jwt', kid: key.jwk.kid };
  const token = await signAnything(key, header, { ...tokens.claims, lk });
  const check = (licenseKey: string) => checkToken(token, ring, { account: tokens.account, licenseKey });
  for (const text of [stored, ...typed]) expect(await check(text)).toMatchObject({ lk });
  for (const text of others) expect(await check(text)).toBe('lk');
});

test.for(fingerprints.machines)('fingerprints.json: $name', ({ fingerprint, ...machine }) => {
  expect(fingerprintOn(machine)).toBe(fingerprint);
});

test('no token of any file has a sub that is no string, which current libraries refuse', () => {
  const texts = readdirSync(CONFORMANCE)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFileSync(join(CONFORMANCE, name), 'utf8'));
  const claims = texts
    .flatMap((text) => [...text.matchAll(/"eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]{86}"/g)])
    .map(([, body = '']) => JSON.parse(Buffer.from(body, 'base64url').toString()) as { sub?: unknown });
  const subs = claims.filter((payload) => 'sub' in payload).map(({ sub }) => typeof sub);
  expect(subs.length).toBeGreaterThan(60);
  expect(subs.length).toBeLessThan(claims.length);
  expect(new Set(subs)).toEqual(new Set(['string']));
});
