import { exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, test } from 'vitest';
import { call, ORIGIN, register } from '../support/client.ts';
import { expectError } from './expect-error.ts';

const CREATE = '/api/v1/licenses/create';

const jsonOf = (bytes: number) => `{"product":"P"}${' '.repeat(bytes - 15)}`;

const streamOf = (chunks: number, chunkBytes: number) => {
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ < chunks) controller.enqueue(new Uint8Array(chunkBytes).fill(0x20));
      else controller.close();
    },
  });
};

describe('a request body', () => {
  let ada: Awaited<ReturnType<typeof register>>;

  beforeAll(async () => {
    ada = await register();
  });

  test('may have 64 KiB', async () => {
    expect((await ada.asSession('POST', CREATE, jsonOf(65_536))).status).toBe(201);
  });

  test('of more than 64 KiB answers 413, on public endpoints too', async () => {
    expectError(await ada.asSession('POST', CREATE, jsonOf(65_537)), 413, 'body_too_large');
    expect((await call('POST', '/api/login', { body: jsonOf(65_537) })).status).toBe(413);
  });

  test.for([
    { name: 'more than 64 KiB', chunks: 17, status: 413, code: 'body_too_large' },
    { name: '64 KiB of spaces', chunks: 16, status: 400, code: 'invalid_json' },
  ] as const)(
    'that streams $name without a Content-Length answers $status',
    async ({ chunks, status, code }) => {
      const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' };
      const request = new Request(ORIGIN + CREATE, {
        method: 'POST',
        headers,
        body: streamOf(chunks, 4_096),
      });
      expect(request.headers.get('content-length')).toBeNull();
      const response = await exports.default.fetch(request);
      const answer = { status: response.status, headers: response.headers, body: await response.json() };
      expectError(answer, status, code);
    },
  );

  test.for(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'of the type “%s” answers 415',
    async (type) => {
      const answer = await ada.asSession('POST', CREATE, '{"product":"P"}', { 'content-type': type });
      expectError(answer, 415, 'unsupported_media_type');
    },
  );

  test.for(['application/json; charset=utf-8', 'Application/JSON', 'application/problem+json'])(
    'may have the type %s',
    async (type) => {
      const answer = await ada.asSession('POST', CREATE, '{"product":"P"}', { 'content-type': type });
      expect([answer.status, answer.body.product]).toEqual([201, 'P']);
    },
  );
});
