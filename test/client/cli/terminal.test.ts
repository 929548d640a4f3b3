import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pinnedKeys } from '../support/fake-service.ts';
import { CLI } from '../support/tool.ts';

let folder = '';
let keysFile = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-'));
  keysFile = join(folder, 'keys.json');
  writeFileSync(keysFile, JSON.stringify(await pinnedKeys()));
});

afterAll(() => rmSync(folder, { recursive: true }));

const run = (args: string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [CLI, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, ...env },
  });

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const inspect = (header: object, claims: object, ...options: string[]) => {
  const token = [part(header), part(claims), 'c2lnbmF0dXJl'.repeat(8)].join('.');
  return run(['token', 'inspect', token, '--keys', keysFile, ...options]);
};

describe('the exit status', () => {
  const shell = (command: string) =>
    spawnSync('bash', ['-c', `set -o pipefail; "${process.execPath}" "${CLI}" ${command}`]).status;

  test('says that output could not be written', () => {
    expect(shell('--help >/dev/full')).toBe(2);
  });

  test('stays what it is if nobody reads the output or the messages', () => {
    const token = `${part({})}.${part({})}.${'x'.repeat(99)}`;
    expect(shell(`token inspect ${token} --keys "${keysFile}" | true`)).toBe(1);
    expect(shell('--help | true')).toBe(0);
    expect(shell('nonsense 2>/dev/full')).toBe(2);
  });
});

test('output that is no terminal has no colors, also in CI', () => {
  const { stderr, status } = run(['nonsense'], { CI: 'true', NO_COLOR: '' });
  expect(status).toBe(2);
  expect(stderr).toContain('Error: ');
});

describe('token inspect', () => {
  test('prints no control character of a token', () => {
    const hostile = '\u001B]0;owned\u0007\u009B2J';
    const { stdout, status } = inspect(
      { alg: 'EdDSA', typ: hostile },
      { code: hostile, [hostile]: [hostile] },
    );
    expect(status).toBe(1);
    expect(stdout).toContain('owned');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test('takes a token that a mail program has wrapped, as an application does', () => {
    const header = part({ alg: 'EdDSA', typ: 'latchkey+jwt', kid: 'unknown' });
    const token = [header, part({ code: 'valid' }), 'c2lnbmF0dXJl'.repeat(8)].join('.');
    const wrapped = token.replace(/.{40}/g, '$&\r\n');
    const file = join(folder, 'license.txt');
    writeFileSync(file, `${wrapped}\n`);
    const outputs = [token, wrapped, file].map(
      (source) => run(['token', 'inspect', source, '--keys', keysFile]).stdout,
    );
    expect(outputs[0]).toContain('✓ It is a Latchkey token\n');
    expect(outputs).toEqual(Array(3).fill(outputs[0]));
  });

  test.for([1e20, -1e20, 'soon', null])('says that a token isn’t good whatever its times are: %j', (time) => {
    const { status, stdout } = inspect({ alg: 'EdDSA', typ: 'latchkey+jwt' }, { iat: time, exp: time });
    expect([status, stdout]).toEqual([1, expect.stringContaining('an unknown time')]);
    expect(stdout).toContain('The token is not good.');
  });
});

test('an API key that is no header value is refused, and not printed', () => {
  const { status, stderr } = run(['licenses', 'list'], {
    LATCHKEY_URL: 'http://127.0.0.1:9',
    LATCHKEY_API_KEY: 'lk_live_first\nlk_live_second',
  });
  expect(status).toBe(2);
  expect(stderr).not.toContain('lk_live_');
});
