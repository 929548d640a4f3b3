import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { call, ORIGIN, signUp, textOf } from '../support/client.ts';
import { expectError } from './expect-error.ts';
import { nameOf, pathTo, routes } from './security.ts';

const CREATE = '/api/v1/licenses/create';

const encode = async (text: string, format: 'gzip' | 'deflate') =>
  new Uint8Array(
    await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream(format))).arrayBuffer(),
  );

const send = async (path: string, headers: Record<string, string>, body: BodyInit) => {
  const response = await exports.default.fetch(new Request(ORIGIN + path, { method: 'POST', headers, body }));
  return { status: response.status, headers: response.headers, text: await textOf(response) };
};

const asKey = ({ apiKey }: { apiKey: string }) => ({
  'x-api-key': apiKey,
  'content-type': 'application/json',
});

test('HEAD answers wherever GET does, with the same status and type, and without a body', async () => {
  const ada = await signUp();
  const headers = { authorization: `Bearer ${ada.token}` };
  const readable = routes.filter(({ method }) => method === 'GET');
  expect(readable.length).toBeGreaterThan(20);
  for (const route of readable) {
    const path = pathTo(route, {});
    const seen = [];
    for (const method of ['GET', 'HEAD']) {
      const response = await exports.default.fetch(new Request(ORIGIN + path, { method, headers }));
      const text = await textOf(response);
      const isRight = method === 'GET' || text === '';
      seen.push([nameOf(route), response.status, response.headers.get('content-type'), isRight]);
    }
    expect(seen[1]).toEqual(seen[0]);
  }
});

test('a HEAD of the export leaves the next export free', async () => {
  const ada = await signUp();
  const headers = { authorization: `Bearer ${ada.token}` };
  const head = await exports.default.fetch(new Request(`${ORIGIN}/api/export`, { method: 'HEAD', headers }));
  expect(head.status).toBe(200);
  expect((await ada.asSession('GET', '/api/export')).status).toBe(200);
});

test('slashes that a client has doubled or left at the end change nothing', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense({});
  for (const path of ['//api/v1/licenses/verify', '/api//v1/licenses/verify/', '/api/v1/licenses/verify//'])
    expect((await ada.asKey('POST', path, { license_key })).body).toMatchObject({ valid: true });
  expect((await ada.asSession('GET', '/api/v1/licenses/?limit=1')).body.data).toHaveLength(1);
  expect((await call('GET', '/health/')).body.status).toBe('ok');
  expectError(await call('GET', '/api/nothing/'), 404, 'not_found');
});

test.for(['gzip', 'deflate'] as const)('a body may be compressed with %s', async (format) => {
  const ada = await signUp();
  const body = await encode(JSON.stringify({ product: 'compressed' }), format);
  const answer = await send(CREATE, { ...asKey(ada), 'content-encoding': format }, body);
  expect([answer.status, JSON.parse(answer.text).product]).toEqual([201, 'compressed']);
  const file = await encode('license_key,product\nAAAA-BBBB-1,compressed\n', format);
  const imported = await send(
    '/api/v1/licenses/import',
    { ...asKey(ada), 'content-type': 'text/csv', 'content-encoding': format },
    file,
  );
  expect(imported.text).toContain('"result":"created"');
});

test('a compressed body counts as large as it is', async () => {
  const ada = await signUp();
  const bomb = await encode(`{"product":"P"}${' '.repeat(8_000_000)}`, 'gzip');
  expect(bomb.byteLength).toBeLessThan(65_536);
  const answer = await send(CREATE, { ...asKey(ada), 'content-encoding': 'gzip' }, bomb);
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([413, 'body_too_large']);
});

test('a body that is not compressed as it says is refused, and so is another compression', async () => {
  const ada = await signUp();
  const broken = await send(CREATE, { ...asKey(ada), 'content-encoding': 'gzip' }, '{"product":"P"}');
  expect([broken.status, JSON.parse(broken.text).error.code]).toEqual([400, 'invalid_request']);
  const brotli = await send(CREATE, { ...asKey(ada), 'content-encoding': 'br' }, '{"product":"P"}');
  expect([brotli.status, brotli.headers.get('accept-encoding')]).toEqual([415, 'gzip, deflate']);
});

test('a web page whose requests a tracing library extends may make an application’s calls', async () => {
  const preflight = await call('OPTIONS', '/api/v1/licenses/verify', {
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'baggage,content-type,sentry-trace,traceparent,x-api-key',
    },
  });
  const allowed = preflight.headers.get('access-control-allow-headers')?.split(',');
  // Without credentials, the star stands for every header but Authorization.
  expect(allowed).toEqual(expect.arrayContaining(['Content-Type', 'X-Api-Key', '*']));
});

test('the answer to a repeat with an Idempotency-Key says that it is one', async () => {
  const ada = await signUp();
  const headers = { 'idempotency-key': 'order-7' };
  const create = () => ada.asKey('POST', CREATE, { product: 'orrery' }, headers);
  expect((await create()).headers.get('idempotency-replayed')).toBeNull();
  expect((await create()).headers.get('idempotency-replayed')).toBe('true');
  const rename = () =>
    ada.asSession('PATCH', '/api/account', { name: 'Ada' }, { 'idempotency-key': 'name-1' });
  expect((await rename()).headers.get('idempotency-replayed')).toBeNull();
  expect((await rename()).headers.get('idempotency-replayed')).toBe('true');
});
