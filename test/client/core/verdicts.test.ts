import { describe, expect, test } from 'vitest';
import {
  FINGERPRINT,
  hang,
  LICENSE_KEY,
  type Request,
  type Statement,
  status,
} from '../support/fake-service.ts';
import { setUp } from '../support/setup.ts';

type SetUp = Awaited<ReturnType<typeof setUp>>;
type Handler = (request: Request) => Response | Promise<Response>;

const portal = () =>
  new Response('<html>Sign in to the hotel’s network</html>', { headers: { 'content-type': 'text/html' } });

/** Answers with a well-signed token that isn't the answer to the call. */
const tokenOf =
  ({ service }: SetUp, changes: Statement): Handler =>
  async ({ input }) => {
    const { license_key = '', fingerprint = null, nonce = null } = input;
    const token = await service.sign({ license_key, fingerprint, nonce, ...changes });
    return Response.json({ valid: true, code: 'valid', token });
  };

const NO_VERDICT: [name: string, handler: (world: SetUp) => Handler][] = [
  ...[301, 307, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503].map((code): (typeof NO_VERDICT)[number] => [
    `status ${code}`,
    () => status(code, { location: 'https://evil.test' }),
  ]),
  ['a timeout', ({ time }) => hang(time)],
  [
    'a network error',
    () => () => {
      throw new TypeError('fetch failed');
    },
  ],
  ['HTML of a captive portal', () => portal],
  ['an empty answer', () => () => new Response('')],
  ['a verdict without a token', () => () => Response.json({ valid: false, code: 'revoked', token: null })],
  [
    'half a token',
    () => () => Response.json({ valid: false, code: 'revoked', token: 'eyJhbGciOiJFZERTQSJ9' }),
  ],
  ['a token for another machine', (world) => tokenOf(world, { fingerprint: 'machine-9876543210' })],
  [
    'a no to a call that lost its fingerprint on the way',
    (world) => tokenOf(world, { fingerprint: null, valid: false, code: 'fingerprint_required' }),
  ],
  ['a token for another license', (world) => tokenOf(world, { license_key: 'OTHER-LICENSE' })],
  ['a token for another product', (world) => tokenOf(world, { product: 'other' })],
  [
    'a no for another nonce',
    (world) => tokenOf(world, { nonce: 'nonce-0123456789', valid: false, code: 'revoked' }),
  ],
  ['a no without a nonce', (world) => tokenOf(world, { nonce: null, valid: false, code: 'revoked' })],
  ['an offline token', (world) => tokenOf(world, { kind: 'offline' })],
  [
    'a token for another account',
    (world) => async (request) => {
      world.service.terms.account = 'acct_0VJ1mKq7XbT2c9LpQwZb';
      return tokenOf(world, { valid: false, code: 'revoked' })(request);
    },
  ],
  [
    'a token by another key',
    (world) => async (request) => {
      if (request.path.startsWith('jwks/')) return status(404)();
      world.service.terms.ring = [Buffer.alloc(32, 9).toString('base64')];
      return tokenOf(world, { valid: false, code: 'revoked' })(request);
    },
  ],
  [
    'a token by another key, with a chain of something else',
    (world) => async (request) => {
      if (request.path.startsWith('jwks/')) return Response.json({ chain: [{ toString: 0 }] });
      world.service.terms.ring = [Buffer.alloc(32, 9).toString('base64')];
      return tokenOf(world, { valid: false, code: 'revoked' })(request);
    },
  ],
];

describe('only a 200 with a well-signed token that bears our nonce changes a verdict', () => {
  test.for(NO_VERDICT)('a good one stays, after %s', async ([, handler]) => {
    const world = await setUp();
    const { time, service, store, create, activate } = world;
    await activate();
    const { token } = JSON.parse(store.text ?? '') as { token: string };
    service.always = handler(world);
    const license = create();
    await license.start();
    const state = await time.drive(license.refresh());
    expect(state).toMatchObject({ valid: true, code: 'valid', source: 'stored' });
    expect(JSON.parse(store.text ?? '')).toMatchObject({ token });
    await license.stop();
  });

  test.for(NO_VERDICT)('none comes of %s', async ([, handler]) => {
    const world = await setUp();
    const { time, service, create } = world;
    service.always = handler(world);
    const license = create();
    await license.start();
    const state = await time.drive(license.activate(LICENSE_KEY));
    expect(state).toMatchObject({ valid: false, code: 'inconclusive', source: 'none', status: null });
    expect(license.state).toEqual(state);
    await license.stop();
  });

  test.for(['null', 'true', '"x"', '{}', '{"toString": 0}', '[{"toString": 0}]'])(
    'a good token counts, whatever a proxy writes beside it: %s',
    async (json) => {
      const value: unknown = JSON.parse(json);
      const { time, service, create } = await setUp();
      service.terms.body = {
        seats: { used: value, limit: value },
        activation: { id: 'act_0VJ1mKq7XbT2c9LpQwZa', activated_at: value, lease_until: value },
        machines: [{ id: value, name: value, last_seen_at: value }],
        retry_at: value,
      };
      const license = create();
      expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
      await license.stop();
    },
  );

  test('an answer that is replayed changes nothing', async () => {
    const { time, service, create, activate } = await setUp();
    const first = create();
    let recorded = '';
    service.handlers.push(async (request) => {
      const response = await service.answer(request);
      recorded = await response.clone().text();
      return response;
    });
    await time.drive(first.activate(LICENSE_KEY));
    await first.stop();
    await activate();
    service.refuse('revoked');
    const license = create();
    await license.start();
    expect(await time.drive(license.refresh())).toMatchObject({ valid: false, code: 'revoked' });
    service.always = () => new Response(recorded);
    expect(await time.drive(license.refresh())).toMatchObject({ valid: false, code: 'revoked' });
    await license.stop();
  });
});

describe('a signed no', () => {
  test.for([
    'not_found',
    'revoked',
    'suspended',
    'expired',
    'wrong_product',
    'updates_ended',
    'fingerprint_required',
    'not_activated',
    'no_seat',
    'transfer_limit',
  ] as const)('takes effect at once and removes the stored token: %s', async (code) => {
    const { time, service, store, create, activate } = await setUp();
    await activate();
    service.refuse(code, 'active');
    const license = create();
    const codes: string[] = [];
    license.onChange((state) => codes.push(state.code));
    await license.start();
    expect(await time.drive(license.refresh())).toMatchObject({ valid: false, code, source: 'network' });
    expect(license.has('export')).toBe(false);
    expect(codes).toEqual(['valid', code]);
    expect(JSON.parse(store.text ?? '')).toMatchObject({ token: null, licenseKey: LICENSE_KEY });
    await license.stop();

    service.always = status(500);
    const next = create();
    expect(await time.drive(next.start())).toMatchObject({ valid: false, code: 'inconclusive' });
    service.always = null;
    service.terms.statement = {};
    expect(await time.drive(next.refresh())).toMatchObject({ valid: true });
    await next.stop();
  });

  test('about another product counts, although its token names that product', async () => {
    const { time, service, create, activate } = await setUp();
    await activate();
    service.terms.statement = { valid: false, code: 'wrong_product', product: 'other' };
    const license = create();
    await license.start();
    expect(await time.drive(license.refresh())).toMatchObject({ valid: false, code: 'wrong_product' });
    await license.stop();
  });

  test('shows the machines that can be replaced, and activate() takes the seat of one', async () => {
    const { time, service, create } = await setUp();
    service.refuse('no_seat', 'active');
    service.terms.body = {
      activation: null,
      machines: [{ id: 'act_old', name: 'Studio', platform: null, last_seen_at: '2026-11-20T10:00:00.000Z' }],
    };
    const license = create();
    await license.start();
    const state = await time.drive(license.activate(LICENSE_KEY, { name: 'x'.repeat(101) }));
    expect(state).toMatchObject({ code: 'no_seat', machines: [{ id: 'act_old', name: 'Studio' }] });
    expect(state.machines?.[0]?.lastSeenAt).toEqual(new Date('2026-11-20T10:00:00.000Z'));
    service.terms = { ...service.terms, statement: {}, body: {} };
    expect(await time.drive(license.activate(undefined, { replace: 'act_old' }))).toMatchObject({
      valid: true,
    });
    const [first, second] = service.requests.map(({ input }) => input);
    expect(first?.['name']).toHaveLength(100);
    expect(second).toMatchObject({ license_key: LICENSE_KEY, replace: 'act_old', fingerprint: FINGERPRINT });
    await license.stop();
  });
});
