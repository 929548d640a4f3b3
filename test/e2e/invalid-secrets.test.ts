import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkOutBuilt, newSecrets, secretsOf, writeSecrets } from './support/checkout.ts';
import { cleanUp, runCommand, startService } from './support/service.ts';

let folder: string;
let validSecrets: string;

const changeSecrets = (change: (lines: string) => string) =>
  writeFileSync(join(folder, '.dev.vars'), change(validSecrets));

beforeAll(async () => {
  folder = await checkOutBuilt();
  writeSecrets(folder, newSecrets());
  validSecrets = readFileSync(join(folder, '.dev.vars'), 'utf8');
});

afterAll(cleanUp);

test.for<[name: string, sentence: RegExp, change: (lines: string) => string]>([
  [
    'a missing API_KEY_SECRET',
    /API_KEY_SECRET is missing: /,
    (lines) => lines.replace(/^API_KEY_SECRET=.*\n/m, ''),
  ],
  [
    'an empty SEALING_KEYS',
    /SEALING_KEYS is missing: /,
    (lines) => lines.replace(/^(SEALING_KEYS=).*/m, '$1'),
  ],
  [
    'a short API_KEY_SECRET',
    /API_KEY_SECRET is too short: /,
    (lines) => lines.replace(/^(API_KEY_SECRET=.{31}).*/m, '$1'),
  ],
  [
    'a short key in SEALING_KEYS',
    /SEALING_KEYS must be a comma-separated list of /,
    (lines) => lines.replace(/^(SEALING_KEYS=k1:.{20}).*/m, '$1'),
  ],
  [
    'a missing SIGNING_KEYS',
    /SIGNING_KEYS is missing: /,
    (lines) => lines.replace(/^SIGNING_KEYS=.*\n/m, ''),
  ],
  [
    'an empty SIGNING_KEYS',
    /SIGNING_KEYS is missing: /,
    (lines) => lines.replace(/^(SIGNING_KEYS=).*/m, '$1'),
  ],
  [
    'a short key in SIGNING_KEYS',
    /SIGNING_KEYS must be a comma-separated list of /,
    (lines) => lines.replace(/^(SIGNING_KEYS=.{20}).*/m, '$1'),
  ],
])('%s stops `npm run dev` with one sentence that names the secret', async ([, sentence, change]) => {
  changeSecrets(change);
  const { code, stdout, stderr } = await runCommand(folder, 'npm', 'run', '--silent', 'dev');
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(sentence);
  expect(stderr).toMatch(/^\.dev\.vars: [^\n]+\.\n$/);
  const secrets = Object.values(secretsOf(folder)).filter(Boolean);
  expect(secrets.filter((secret = '') => stderr.includes(secret))).toEqual([]);
});

test('the Worker answers 503, and /health names the missing secret', async () => {
  changeSecrets((lines) => lines.replace(/^API_KEY_SECRET=.*\n/m, ''));
  const service = await startService(folder, [
    join(folder, 'node_modules/.bin/wrangler'),
    'dev',
    '--inspector-port=0',
  ]);
  // On a busy machine, the database may take longer at first than a health check waits for it.
  await expect
    .poll(() => service.get('/health'))
    .toMatchObject({
      status: 503,
      body: { status: 'degraded', checks: { database: 'ok' } },
      text: expect.stringContaining('API_KEY_SECRET is missing') as string,
    });
  const apiKey = { 'x-api-key': `lk_live_${'A'.repeat(73)}` };
  const rejected = await service.post('/api/v1/licenses/verify', { license_key: 'AAAAAAAA' }, apiKey);
  expect(rejected).toMatchObject({
    status: 503,
    body: { error: { code: 'unavailable', message: 'Service Unavailable' } },
  });
  expect(rejected.text).not.toContain('API_KEY_SECRET');
});
