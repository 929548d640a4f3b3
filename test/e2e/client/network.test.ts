import { beforeAll, describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { licenseBody } from '../../../src/licenses/schemas.ts';
import { newApplication, newMachine, newProxy, newSeller, type Seller } from './support/application.ts';
import {
  afterDelay,
  type Behavior,
  captivePortal,
  cut,
  first,
  loseResponse,
  pass,
  replay,
  type Reply,
  refuse,
  respond,
  withFields,
  withToken,
} from './support/proxy.ts';

// The package as installed from the tarball, against the service, with a proxy between them.

let seller: Seller;
let license: z.infer<typeof licenseBody>;

beforeAll(async () => {
  seller = await newSeller({ entitlements: { export: true } });
  license = await seller.sell();
});

/** An application that has been activated, and its proxy. */
const activated = async () => {
  const proxy = await newProxy();
  const machine = newMachine();
  const application = newApplication(seller, proxy, machine);
  let reply: Reply | undefined;
  proxy.behavior = async ({ forward }) => (reply = await forward());
  expect(await application.activate(license.license_key)).toMatchObject({ valid: true, source: 'network' });
  proxy.behavior = pass;
  if (!reply) throw new Error('No response was recorded.');
  return { proxy, machine, application, reply };
};

const tokenIn = ({ text }: Reply) => (JSON.parse(text) as { token: string }).token;

const JSON_TYPE = { 'content-type': 'application/json' };

const FAILURES: Record<string, Behavior> = {
  'a 401': respond(401, '{"error":{"code":"api_key_required"}}', JSON_TYPE),
  'a 403': respond(403, '{"error":{"code":"api_key_invalid"}}', JSON_TYPE),
  'a 404': respond(404, '{"error":{"code":"not_found"}}', JSON_TYPE),
  'a 429': respond(429, '{"error":{"code":"usage_limit_exceeded"}}', { 'retry-after': '86400' }),
  'a 500': respond(500),
  'a 503': respond(503, 'Service Unavailable'),
  'a captive portal': captivePortal,
  'a redirect to a captive portal': respond(302, '', { location: '/login' }),
  'a connection that is cut': cut,
  'a lost response': loseResponse,
  'half a response': respond(200, '{"valid":false,"status":"revo', JSON_TYPE),
  'a refusal without a token': respond(200, '{"valid":false,"status":"revoked","code":"revoked"}', JSON_TYPE),
  'JSON of something else': respond(200, '{"login":"required"}', JSON_TYPE),
};

describe('a license that was found valid', () => {
  test.concurrent.for(Object.keys(FAILURES))('stays valid after %s', async (name) => {
    const { proxy, machine, application } = await activated();
    const stored = machine.store.text;
    proxy.behavior = FAILURES[name] ?? pass;
    expect(await application.refresh()).toMatchObject({ valid: true, code: 'valid' });
    expect(application.has('export')).toBe(true);
    expect(proxy.paths.length).toBeGreaterThan(1);
    // Nothing is lost by a restart either. The mark of the clock may have risen.
    const restarted = newApplication(seller, proxy, machine);
    expect(await restarted.start()).toMatchObject({ valid: true, source: 'stored' });
    expect(tokenOf(machine.store.text)).toBe(tokenOf(stored));
  });

  test('starts from the stored token without waiting for the network', async () => {
    const { proxy, machine } = await activated();
    const answered = Promise.withResolvers<'answered'>();
    proxy.behavior = afterDelay(3_000, (call) => {
      answered.resolve('answered');
      return pass(call);
    });
    const restarted = newApplication(seller, proxy, machine);
    expect(await Promise.race([restarted.start(), answered.promise])).toMatchObject({
      valid: true,
      source: 'stored',
    });
    expect(restarted.has('export')).toBe(true);
  });

  test('loses its validity with a signed refusal, at once and beyond a restart', async () => {
    const { proxy, machine, application, reply } = await activated();
    const own = await seller.sell();
    await application.activate(own.license_key);
    await seller.change(own.id, 'suspend');
    expect(await application.refresh()).toMatchObject({ valid: false, code: 'suspended', source: 'network' });
    expect(application.has('export')).toBe(false);
    expect(tokenOf(machine.store.text)).toBeNull();

    // Replaying the old answer or cutting the network doesn't bring it back.
    for (const behavior of [replay(reply), cut]) {
      proxy.behavior = behavior;
      expect((await application.refresh()).valid).toBe(false);
      expect((await newApplication(seller, proxy, machine).start()).valid).toBe(false);
    }
    proxy.behavior = pass;
    await seller.change(own.id, 'reinstate');
    expect(await application.refresh()).toMatchObject({ valid: true, code: 'valid' });
  });
});

/** The last part of a stored token. Null if the store has none. */
const tokenOf = (text: string | null) => /"[\w-]+\.[\w-]+\.([\w-]+)"/.exec(text ?? '')?.[1] ?? null;

describe('a call that fails for a moment', () => {
  test('is attempted three times', async () => {
    const { proxy, application } = await activated();
    proxy.behavior = first(cut, respond(500));
    const before = proxy.paths.length;
    expect(await application.refresh()).toMatchObject({ valid: true, source: 'network' });
    expect(proxy.paths.length - before).toBe(3);
  });

  test('waits for the Retry-After of a 429, and gives up if it is long', async () => {
    const { proxy, application } = await activated();
    proxy.behavior = first(refuse(429, '1'));
    const startedMs = performance.now();
    expect(await application.refresh()).toMatchObject({ valid: true, source: 'network' });
    expect(performance.now() - startedMs).toBeGreaterThan(950);

    const before = proxy.paths.length;
    proxy.behavior = refuse(429, '3600');
    expect(await application.refresh()).toMatchObject({ valid: true });
    expect(proxy.paths.length - before).toBe(1);
  });
});

describe('a token that was swapped on the way', () => {
  let elsewhere: Record<string, Behavior>;
  beforeAll(async () => {
    const otherSeller = await newSeller();
    const otherLicense = await otherSeller.sell();
    await seller.putProduct('astrolabe');
    const otherProduct = await seller.sell({ product: 'astrolabe' });
    const suspended = await seller.sell();
    await seller.change(suspended.id, 'suspend');
    const ask = async ({ apiKey }: Pick<Seller, 'apiKey'>, licenseKey: string, fingerprint: string) => {
      const machine = { fingerprint, nonce: 'nonce-0123456789' };
      return (await seller.activate(apiKey, licenseKey, machine)).token ?? '';
    };
    const own = await ask(seller, license.license_key, 'machine-0123456789');
    const flipped = `${own.slice(0, -2)}${own.endsWith('A') ? 'B' : 'A'}${own.slice(-1)}`;
    elsewhere = {
      'another machine': withToken(own),
      'no machine': withFields({ fingerprint: null }),
      'another account': withToken(await ask(otherSeller, otherLicense.license_key, 'machine-0123456789')),
      'another product': withToken(await ask(seller, otherProduct.license_key, 'machine-0123456789')),
      'another license': withToken(await ask(seller, suspended.license_key, 'machine-0123456789')),
      'a flipped signature': withToken(flipped),
      'no signature': withToken(`${own.split('.').slice(0, 2).join('.')}.`),
      'no token': withToken(''),
    };
  });

  test('is taken neither for a verdict nor for a refusal', async () => {
    for (const [name, behavior] of Object.entries(elsewhere)) {
      const { proxy, application } = await activated();
      proxy.behavior = behavior;
      expect(await application.refresh(), name).toMatchObject({ valid: true, code: 'valid' });

      const machine = newMachine();
      const fresh = newApplication(seller, proxy, machine);
      const state = await fresh.activate(license.license_key);
      expect(state, name).toMatchObject({ valid: false, code: 'inconclusive', source: 'none' });
      expect(tokenOf(machine.store.text), name).toBeNull();
    }
  });

  test('is not taken with the nonce of an earlier call', async () => {
    const { proxy, machine, reply } = await activated();
    // The same machine with an empty store, as after a reinstallation.
    const fresh = newApplication(seller, proxy, { ...newMachine(), fingerprint: machine.fingerprint });
    proxy.behavior = replay(reply);
    expect(await fresh.activate(license.license_key)).toMatchObject({ valid: false, code: 'inconclusive' });
    proxy.behavior = withToken(tokenIn(reply));
    expect(await fresh.activate(license.license_key)).toMatchObject({ valid: false, code: 'inconclusive' });
    proxy.behavior = pass;
    expect(await fresh.activate(license.license_key)).toMatchObject({ valid: true });
  });
});
