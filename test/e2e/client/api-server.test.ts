import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { normalizeTypedKey } from '../../../src/shared/rules/license-key.ts';
import { newProxy, newSeller, type Seller } from './support/application.ts';
import { copyExample, startExample } from './support/examples.ts';
import { cut, pass, respond } from './support/proxy.ts';

// The example of a server, with the installed package.

/** No call of these tests is lost, and on a busy machine, one may take longer than the example waits. */
const TIMEOUT_MS = 60_000;

let seller: Seller;
beforeAll(async () => {
  seller = await newSeller();
});

describe('api-server', () => {
  const openVerifier = async (proxy: { origin: string }, now: () => number) => {
    const folder = await copyExample('api-server');
    const { createVerifier } = (await import(join(folder, 'verifier.js'))) as {
      createVerifier: (
        options: object,
      ) => (licenseKey: string, address: string) => Promise<{ valid: boolean; code: string } | null>;
    };
    return createVerifier({
      baseUrl: proxy.origin,
      apiKey: seller.apiKey,
      product: 'planets-api',
      timeoutMs: TIMEOUT_MS,
      now,
    });
  };
  const sell = async () => {
    await seller.putProduct('planets-api');
    return seller.sell({ product: 'planets-api' });
  };

  test('answers a customer from its cache, and for a while without the service', async () => {
    const proxy = await newProxy();
    const folder = await copyExample('api-server');
    const env = {
      LATCHKEY_URL: proxy.origin,
      LATCHKEY_API_KEY: seller.apiKey,
      LATCHKEY_TIMEOUT_MS: String(TIMEOUT_MS),
      PORT: '0',
    };
    const url = await startExample(folder, ['server.js'], env);
    const { license_key: licenseKey } = await sell();
    const call = async (token: string) =>
      (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;

    expect((await fetch(url)).status).toBe(401);
    // Every spelling of a key is the same customer.
    const spellings = [licenseKey, licenseKey.toLowerCase(), licenseKey.replaceAll('-', '')];
    expect(await Promise.all(spellings.map(call))).toEqual([200, 200, 200]);
    expect(await Promise.all(['NOT-A-LICENSE', 'NOT-A-LICENSE'].map(call))).toEqual([403, 403]);
    expect(await call((await seller.sell()).license_key)).toBe(403);
    expect(proxy.paths).toEqual(['licenses/verify', 'licenses/verify', 'licenses/verify']);
    proxy.behavior = cut;
    expect(await call(licenseKey)).toBe(200);
    expect(await call('ANOTHER-LICENSE')).toBe(503);
  });

  test('asks about a key of the seller’s own as it was typed, even if it looks like a generated one', async () => {
    const proxy = await newProxy();
    const verify = await openVerifier(proxy, () => 0);
    await seller.putProduct('planets-api');
    const own = Array.from({ length: 64 }, (_, n) => `planets-api-member-${String(n).padStart(9, '0')}`);
    const isGenerated = (key: string) => normalizeTypedKey(key) !== null;
    // The last character of one is, by chance, the check character of a generated key.
    for (const [index, key] of [own.find((key) => !isGenerated(key)), own.find(isGenerated)].entries()) {
      const { license_key: licenseKey } = await seller.sell({ product: 'planets-api', license_key: key });
      expect([index, await verify(licenseKey, '192.0.2.1')]).toMatchObject([index, { valid: true }]);
    }
    const [unlike = ''] = own.filter((key) => !isGenerated(key));
    expect(await verify(unlike.toUpperCase(), '192.0.2.1')).toMatchObject({
      valid: false,
      code: 'not_found',
    });
  });

  test('says in its log why there is no verdict', async () => {
    const proxy = await newProxy();
    const log = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => log.mockRestore());
    const verify = await openVerifier(proxy, Date.now);
    proxy.behavior = respond(403, '{"error":{"code":"api_key_invalid"}}', {
      'content-type': 'application/json',
    });
    expect(await verify('SOME-LICENSE', '192.0.2.1')).toBeNull();
    proxy.behavior = cut;
    expect(await verify('SOME-LICENSE', '192.0.2.1')).toBeNull();
    expect(log.mock.calls.map(([line]) => line as string)).toEqual([
      'No verdict: Latchkey answered 403 api_key_invalid',
      expect.stringMatching(/^No verdict: \w+/),
    ]);
  });

  test('asks again after a minute, and trusts a valid license for an hour if there is no answer', async () => {
    const proxy = await newProxy();
    let nowMs = 0;
    const verify = await openVerifier(proxy, () => nowMs);
    const { id, license_key: licenseKey } = await sell();
    const isValidAt = async (seconds: number) => {
      nowMs = seconds * 1_000;
      return (await verify(licenseKey, '192.0.2.1'))?.valid ?? null;
    };

    expect(await isValidAt(0)).toBe(true);
    await seller.change(id, 'suspend');
    expect(await isValidAt(59)).toBe(true);
    proxy.behavior = respond(500);
    expect([await isValidAt(60), await isValidAt(3_599), await isValidAt(3_600)]).toEqual([true, true, null]);
    proxy.behavior = pass;
    expect(await isValidAt(3_601)).toBe(false);
    proxy.behavior = cut;
    expect([await isValidAt(3_660), await isValidAt(3_661)]).toEqual([false, null]);
  });

  test('keeps strangers who make up keys from draining what customers need', async () => {
    const proxy = await newProxy();
    let nowMs = 0;
    const verify = await openVerifier(proxy, () => nowMs);
    const { license_key: licenseKey } = await sell();
    expect(await verify(licenseKey, '192.0.2.1')).toMatchObject({ valid: true });

    // The service answers as for an unknown key, so that its own limits stay out of this.
    proxy.behavior = respond(200, JSON.stringify({ valid: false, status: 'not_found', code: 'not_found' }), {
      'content-type': 'application/json',
    });
    const flood = async (address: string, keys: number[]) => {
      proxy.paths.length = 0;
      const verdicts = await Promise.all(keys.map((key) => verify(`MADE-UP-${key}`, address)));
      return [proxy.paths.length, verdicts.filter((verdict) => verdict?.code !== 'not_found').length];
    };
    const keys = Array.from({ length: 50 }, (_, index) => index);
    expect(await flood('198.51.100.1', keys)).toEqual([10, 40]);
    const calls = [];
    for (let machine = 2; machine <= 20; machine += 1)
      calls.push(
        (
          await flood(
            `198.51.100.${machine}`,
            keys.map((key) => machine * 100 + key),
          )
        )[0],
      );
    expect(calls).toEqual([...Array<number>(11).fill(10), ...Array<number>(8).fill(0)]);

    // An hour later, keys that were found unknown before count again.
    nowMs = 3_599_000;
    expect(await flood('198.51.100.1', keys)).toEqual([10, 40]);

    // A customer goes on being asked about, whoever floods.
    proxy.behavior = pass;
    proxy.paths.length = 0;
    expect(await verify(licenseKey, '198.51.100.1')).toMatchObject({ valid: true, code: 'valid' });
    expect(proxy.paths).toEqual(['licenses/verify']);
  });

  test('takes nobody who comes again during an outage for a stranger', async () => {
    const proxy = await newProxy();
    const log = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => log.mockRestore());
    const verify = await openVerifier(proxy, () => 0);
    proxy.behavior = respond(503);
    const verdicts = [];
    for (let count = 0; count < 12; count += 1) verdicts.push(await verify('SOME-LICENSE', '192.0.2.1'));
    expect(verdicts).toEqual(Array(12).fill(null));
    expect(proxy.paths.length).toBe(10);
  });

  test('asks about every customer who comes at once after a start', async () => {
    const proxy = await newProxy();
    const verify = await openVerifier(proxy, () => 0);
    const licenses = await Promise.all(Array.from({ length: 12 }, sell));
    for (const { license_key: licenseKey } of licenses)
      expect(await verify(licenseKey, '192.0.2.1')).toMatchObject({ valid: true });
  });
});
