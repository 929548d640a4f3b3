import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { runCli } from './tool.ts';

// A double of the service's import, and the command that a test runs against it in a folder of its own.

const initial = () => ({
  folder: '',
  host: '127.0.0.1',
  account: 'acct_1',
  /** The bodies of the parts. */
  parts: [] as string[],
  paths: [] as (string | undefined)[],
  /** The account's products, and how often they were read. */
  products: [] as { code: string; name: string | null }[],
  productReads: 0,
  /** Returns the answer to a part, or null to cut it off. */
  answerPart: (_lines: string[], _part: number): string | null => null,
});

export const answers = (lines: string[], result: (line: string) => object) =>
  [...lines.map((line, i) => ({ line: i + 1, ...result(line) })), { totals: { lines: lines.length } }]
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');

/** Starts the double before each test of a file. */
export const useImportService = () => {
  const service = initial();
  let server: Server;

  beforeEach(async () => {
    Object.assign(service, initial(), { folder: mkdtempSync(join(tmpdir(), 'latchkey-import-')) });
    server = createServer((request, response) => {
      if (request.method === 'GET') {
        const isAccount = request.url === '/api/account';
        if (!isAccount) service.productReads++;
        const body = isAccount ? { id: service.account } : { data: service.products, next_cursor: null };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        return;
      }
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        service.parts.push(body);
        service.paths.push(request.url);
        const answer = service.answerPart(body.trimEnd().split('\n'), service.parts.length);
        if (answer === null) response.destroy();
        else {
          const status = answer.startsWith('{"error"') ? 403 : 200;
          response.writeHead(status, { 'content-type': 'application/x-ndjson' }).end(answer);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(() => {
    server.close();
    rmSync(service.folder, { recursive: true });
  });

  const write = (name: string, text: string) => {
    const file = join(service.folder, name);
    writeFileSync(file, text);
    return file;
  };

  /** Runs the tool in a shell script. */
  const runIn = (script: string | undefined, ...args: string[]) => {
    const { port } = server.address() as AddressInfo;
    const variables = { LATCHKEY_URL: `http://${service.host}:${port}`, LATCHKEY_API_KEY: 'lk_live_x' };
    return runCli(args, variables, script);
  };
  const run = (...args: string[]) => runIn(undefined, ...args);

  /** The lines of the first part. */
  const sentLines = () =>
    (service.parts[0] ?? '')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  return { service, write, run, runIn, sentLines };
};
