import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkOutBuilt } from './support/checkout.ts';
import { cleanUp, runCommand, type Service, startService } from './support/service.ts';

let folder: string;
let service: Service;

beforeAll(async () => {
  folder = await checkOutBuilt();
  service = await startService(folder);
});
afterAll(cleanUp);

describe('the tour in the README and the four calls of an application', () => {
  const readSection = (file: string, heading: string) => {
    const markdown = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
    const [, section = ''] = new RegExp(`^## ${heading}\n(.*?)^## `, 'ms').exec(markdown) ?? [];
    return section;
  };
  const blocks = (section: string, language: string) =>
    [...section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
      ([, code = '']) => code,
    );
  const tour = readSection('README.md', 'A tour in five calls');
  const applications = readSection('docs/applications.md', 'The four calls');
  const script = [tour, applications].flatMap((section) => blocks(section, 'sh')).join('\n');

  test('the tour makes exactly five calls, and both need only curl and sed', () => {
    expect(
      blocks(tour, 'sh')
        .join('\n')
        .match(/\bcurl\b/g),
    ).toHaveLength(5);
    expect(script).not.toMatch(/\bjq\b|\bpython/);
  });

  test('run as written and print the documented output', async () => {
    const outputs = [tour, applications].flatMap((section) => blocks(section, 'json'));
    const documented = outputs.join('').replace(/\s/g, '');
    // An ellipsis stands for a value that differs in each run.
    const expected = documented.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^"{}]+');
    const command = ['env', `LATCHKEY=${service.origin}`, 'bash', '-euo', 'pipefail', '-c', script];
    const { code, stdout, stderr } = await runCommand(folder, ...command);
    expect(stderr).toBe('');
    expect(stdout.replace(/\s/g, '')).toMatch(new RegExp(`^${expected}$`));
    expect(code).toBe(0);
  });
});

describe('the documentation', () => {
  const FILES = [
    ['/openapi.json', 'application/json'],
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs/api/licenses', 'text/html; charset=utf-8'],
    ['/docs/tokens.md', 'text/markdown; charset=utf-8'],
    ['/docs/search.json', 'application/json'],
  ] as const;

  test.for(FILES)(
    '%s is served by the Worker with a request id and a strict Content-Security-Policy',
    async ([path, type]) => {
      const { status, headers, text } = await service.get(path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe(type);
      expect(text.length).toBeGreaterThan(50);
      expect(headers.get('x-request-id')).toMatch(/^req_[0-9A-Za-z]{20}$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src '(self|none)';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
    },
  );

  test('the page loads only files from its own host', async () => {
    const { text } = await service.get('/docs');
    const loaded = [...text.matchAll(/<(?:script|link|img)\b[^>]*\s(?:src|href)="([^"]+)"/g)];
    expect(loaded.length).toBeGreaterThan(3);
    expect(loaded.map(([, path = '']) => path).filter((path) => !/^\/\w/.test(path))).toEqual([]);
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
  });

  test('llms.txt lists the Markdown of each page', async () => {
    const { status, headers, text } = await service.get('/llms.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toContain('(/docs/applications.md)');
    expect(text).toContain('(/docs/api/licenses.md)');
  });

  test('/openapi.json has the version of package.json', async () => {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    const { body } = await service.get('/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Latchkey', version } });
  });

  test.for(['/docs/nope.js', '/docs/nope/deeper', '/docs/%2e%2e%2fopenapi.json', '/docs/..%2fpackage.json'])(
    '%s answers 404 in JSON',
    async (path) => {
      const { status, headers, body } = await service.get(path);
      expect(status).toBe(404);
      expect(body).toEqual({
        error: { code: 'not_found', message: 'Not Found', request_id: headers.get('x-request-id') },
      });
    },
  );
});

describe('a chunked body without a Content-Length', () => {
  const send = async (bytes: number) => {
    const sentRequest = request(`${service.origin}/api/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    const responded = once(sentRequest, 'response');
    // The service reads up to 1 MiB to the end, so an error before the response fails the test. One after it changes nothing.
    sentRequest.on('error', () => {});
    const body = JSON.stringify({ email: 'x'.repeat(bytes - '{"email":""}'.length) });
    for (let at = 0; at < body.length; at += 4_096) sentRequest.write(body.slice(at, at + 4_096));
    sentRequest.end();
    const [response] = (await responded) as [NodeJS.ReadableStream & { statusCode: number }];
    let text = '';
    for await (const chunk of response) text += chunk.toString();
    return { status: response.statusCode, body: JSON.parse(text) as unknown };
  };

  test('is accepted up to 64 KiB', async () => {
    expect(await send(64 * 1024)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    });
  });

  test.for([64 * 1024 + 1, 1024 * 1024])('is rejected at %i bytes', async (bytes) => {
    expect(await send(bytes)).toMatchObject({ status: 413, body: { error: { code: 'body_too_large' } } });
  });
});

describe('`npm run build`', () => {
  const build = () => runCommand(folder, 'npm', 'run', '--silent', 'build');
  const page = () => join(folder, 'dist/assets/docs/index.html');

  test('keeps assets that are up to date', async () => {
    const before = statSync(page()).mtimeMs;
    expect(await build()).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(page()).mtimeMs).toBe(before);
  });

  // `wrangler dev` may be a third one: it builds when src changes, and a build writes the client's API types there.
  test('builds the assets again after a change of a source or of an asset, also twice at once', async () => {
    appendFileSync(join(folder, 'README.md'), '\nIt has changed.\n');
    rmSync(join(folder, 'dist/assets/theme.js'));
    for (const built of await Promise.all([build(), build()]))
      expect(built).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(page(), 'utf8')).toContain('It has changed.');
    expect(existsSync(join(folder, 'dist/assets/theme.js'))).toBe(true);
  });
});
