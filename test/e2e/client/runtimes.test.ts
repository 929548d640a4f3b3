import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { newSeller, project, service } from './support/application.ts';

const STEPS = [
  'false key_missing none',
  'true valid network',
  'true valid stored',
  'true valid network',
  'false deactivated none',
];

let options: object;
beforeAll(async () => {
  const seller = await newSeller({ max_activations: 1 });
  const { license_key: licenseKey } = await seller.sell();
  const { apiKey, keys } = seller;
  const machine = { product: 'orrery', fingerprint: 'machine-0123456789' };
  options = { baseUrl: service.origin, apiKey, keys, licenseKey, ...machine };
  await cp(join(import.meta.dirname, 'support/smoke.js'), join(project, 'smoke.js'));
});

const versionOf = (node: string) => execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();

/** Returns the path of a Node.js 20: one that is on the machine, or else the one that npm has. */
const findNode20 = async (): Promise<string> => {
  for (const folder of process.env.PATH?.split(delimiter) ?? []) {
    const node = join(folder, 'node');
    if (existsSync(node) && versionOf(node).startsWith('v20.')) return node;
  }
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-node20-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', 'node@20'], { cwd: folder });
  return join(folder, 'node_modules/node/bin/node');
};

const runIn = async (node: string, env: Record<string, string> = {}): Promise<unknown> => {
  const script = `
    import { createLicense } from '@latchkey/client';
    import { smoke } from './smoke.js';
    console.log(JSON.stringify(await smoke(createLicense, JSON.parse(process.argv[1]))));
  `;
  const child = spawn(node, ['--input-type=module', '-e', script, JSON.stringify(options)], {
    cwd: project,
    env: { ...process.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = await once(child, 'close');
  expect(code, output).toBe(0);
  return JSON.parse(output.split('\n')[0] ?? '');
};

test('the package works in Node.js 24', async () => {
  expect(process.version).toMatch(/^v24\./);
  expect(await runIn(process.execPath)).toEqual(STEPS);
});

test('the package works in Node.js 24 behind a proxy', async () => {
  const connected: string[] = [];
  const proxy = createServer().on('connect', ({ url = '' }: IncomingMessage, client: Socket) => {
    connected.push(url);
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    for (const socket of [client, target]) socket.on('error', () => {});
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: '' };
  expect(await runIn(process.execPath, env)).toEqual(STEPS);
  expect(new Set(connected)).toEqual(new Set([new URL(service.origin).host]));
});

test('the package works in Node.js 20', async () => {
  expect(await runIn(await findNode20())).toEqual(STEPS);
});

test.for(['import', 'require'])('a program that ends with an error says in a few lines why: %s', (kind) => {
  const load = kind === 'import' ? 'await import' : 'require';
  const script = `(async () => (${load}('@latchkey/client/node')).createLicense({ baseUrl: 'example.com', dir: '.' }))()`;
  const { stderr } = spawnSync(process.execPath, ['-e', script], { cwd: project, encoding: 'utf8' });
  expect(stderr).toContain('TypeError: baseUrl must be like https://example.com.');
  expect(stderr.length).toBeLessThan(2_000);
});

test('the core works in a Worker', async () => {
  const worker = `
    import { createLicense } from './node_modules/@latchkey/client/dist/index.js';
    import { smoke } from './smoke.js';
    export default {
      fetch: async (request) => Response.json(await smoke(createLicense, await request.json())),
    };
  `;
  await writeFile(join(project, 'worker.js'), worker);
  const files = globSync('node_modules/@latchkey/client/dist/*.js', { cwd: project });
  const runtime = convertV4MiniflareOptions({
    modules: ['worker.js', 'smoke.js', ...files].map((file) => ({
      type: 'ESModule' as const,
      path: join(project, file),
    })),
    cf: false,
    telemetry: { enabled: false },
    modulesRoot: project,
    compatibilityDate: '2026-10-01',
  });
  const miniflare = new Miniflare(runtime);
  onTestFinished(() => miniflare.dispose());
  const response = await miniflare.dispatchFetch('http://worker.test/', {
    method: 'POST',
    body: JSON.stringify(options),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(JSON.parse(text)).toEqual(STEPS);
});
