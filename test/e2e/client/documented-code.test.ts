import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { newProxy, newSeller, project, type Seller, service } from './support/application.ts';
import { codeOf, ROOT } from './support/documentation.ts';
import { EXAMPLES, runExample } from './support/examples.ts';

// The code in the documentation runs as it is written there, and reads tokens as the examples in other languages do.

let seller: Seller;
beforeAll(async () => {
  seller = await newSeller({ max_activations: 1, entitlements: { export: true } });
});

describe('the lines for an application', () => {
  test.for(['src/client/README.md', 'docs/applications.md'])(
    'in %s take a seat once, and a second run on the same day makes no call',
    async (file) => {
      const proxy = await newProxy();
      const folder = await mkdtemp(join(project, 'lines-'));
      symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, 'latchkey-keys.json'), JSON.stringify(seller.keys));
      const { license_key: licenseKey } = await seller.sell();
      const lines = codeOf(file, 'createLicense')
        .replace('https://latchkey.example.com', proxy.origin)
        .replace(/apiKey: '[^']*'/, `apiKey: '${seller.apiKey}'`)
        .replace(/dir: [^,]+,/, "dir: './settings',");
      const surroundings = `
        const askForLicenseKey = (code) => { console.log(code); return '${licenseKey}'; };
        const showExportButton = () => console.log('export');
        const updateWindow = () => {};
      `;
      // Imports come first, wherever they are.
      writeFileSync(join(folder, 'app.mjs'), `${surroundings}\n${lines}\nawait license.stop();\n`);
      const run = async () => {
        proxy.paths.length = 0;
        const { code, stdout, stderr } = await runExample(folder, ['app.mjs'], {
          KUBERNETES_SERVICE_HOST: '-',
        });
        expect(code, stderr).toBe(0);
        return [stdout.trim().split('\n'), [...proxy.paths]];
      };
      expect(await run()).toEqual([['key_missing', 'export'], ['licenses/activate']]);
      expect(await run()).toEqual([['export'], []]);
    },
  );
});

interface Case {
  token: string;
  license_key: string;
  fingerprint: string;
  product: string;
  nonce: string | null;
  kind: string;
}
/** The claims that matter, or null for a token that isn't good. */
type Reading = { valid: boolean; code: string; ent: object } | null;

const PYTHON = `
import json, sys
from latchkey_token import read_token
import jwt
pinned, cases = json.load(sys.stdin)
def read(case):
    try:
        claims = read_token(case.pop("token"), pinned, **case)
    except jwt.InvalidTokenError:
        return None
    return {name: claims[name] for name in ["valid", "code", "ent"]}
print(json.dumps([read(case) for case in cases]))
`;

const GO = `
package main

import (
	"encoding/json"
	"os"
	"time"

	"example.com/orrery"
)

type reading struct {
	Valid bool           \`json:"valid"\`
	Code  string         \`json:"code"\`
	Ent   map[string]any \`json:"ent"\`
}

func main() {
	var pinned orrery.Pinned
	var cases []struct {
		Token, Fingerprint, Product, Nonce, Kind string
		LicenseKey                               string \`json:"license_key"\`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&[]any{&pinned, &cases}); err != nil {
		panic(err)
	}
	readings := []*reading{}
	for _, c := range cases {
		expected := orrery.Expected{
			LicenseKey: c.LicenseKey, Fingerprint: c.Fingerprint, Product: c.Product, Nonce: c.Nonce, Kind: c.Kind,
		}
		claims, err := orrery.ReadToken(c.Token, pinned, expected, time.Now())
		if err != nil {
			readings = append(readings, nil)
			continue
		}
		r := &reading{claims.Valid, claims.Code, map[string]any{}}
		for name, value := range claims.Ent {
			r.Ent[name] = value
		}
		readings = append(readings, r)
	}
	json.NewEncoder(os.Stdout).Encode(readings)
}
`;

const JAVASCRIPT = `
import { text } from 'node:stream/consumers';
import { readToken } from './token.mjs';
const [, cases] = JSON.parse(await text(process.stdin));
const read = async ({ token, license_key: licenseKey, nonce, ...rest }) => {
  try {
    const { valid, code, ent } = await readToken(token, { licenseKey, nonce: nonce ?? undefined, ...rest });
    return { valid, code, ent };
  } catch {
    return null;
  }
};
console.log(JSON.stringify(await Promise.all(cases.map(read))));
`;

/** Prepares a language and returns the command that reads the cases, or null if this machine doesn't have the language. */
const LANGUAGES: Record<string, () => Promise<{ command: string[]; cwd: string } | null>> = {
  'docs/tokens.md': async () => {
    const cwd = await mkdtemp(join(project, 'jose-'));
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(join(ROOT, 'node_modules/jose'), join(cwd, 'node_modules/jose'));
    writeFileSync(join(cwd, 'latchkey-keys.json'), JSON.stringify(seller.keys));
    writeFileSync(join(cwd, 'token.mjs'), codeOf('docs/tokens.md', 'readToken'));
    writeFileSync(join(cwd, 'main.mjs'), JAVASCRIPT);
    return { command: [process.execPath, 'main.mjs'], cwd };
  },
  'examples/python': async () => {
    // The Python that is first in PATH may be another than the system's, for which Debian has PyJWT.
    const python = ['python3', '/usr/bin/python3'].find(
      (name) => spawnSync(name, ['-c', 'import jwt, cryptography']).status === 0,
    );
    return python ? { command: [python, '-B', '-c', PYTHON], cwd: join(EXAMPLES, 'python') } : null;
  },
  'examples/go': async () => {
    if (spawnSync('go', ['version']).status !== 0) return null;
    const cwd = await mkdtemp(join(project, 'go-'));
    writeFileSync(join(cwd, 'main.go'), GO);
    writeFileSync(
      join(cwd, 'go.mod'),
      `module example.com/main\n\ngo 1.19\n\nrequire example.com/orrery v0.0.0\n\nreplace example.com/orrery => ${join(EXAMPLES, 'go')}\n`,
    );
    return { command: ['go', 'run', '.'], cwd };
  },
};

describe('a token of the service', () => {
  const cases: Case[] = [];
  const readings: Reading[] = [];
  beforeAll(async () => {
    const yes = { valid: true, code: 'valid', ent: { export: true } };
    const { id, license_key: licenseKey } = await seller.sell();
    const nonce = 'nonce-0123456789';
    const machine = { fingerprint: 'machine-0123456789', product: 'orrery' };
    const ask = async (call: string, input: object) => {
      const sent = { license_key: licenseKey, ...machine, nonce, ...input };
      const { body } = await service.post(`/api/v1/licenses/${call}`, sent, { 'x-api-key': seller.apiKey });
      return (body as { token: string }).token;
    };
    const add = (reading: Reading, token: string, changes: Partial<Case> = {}) => {
      cases.push({ token, license_key: licenseKey, ...machine, nonce, kind: 'online', ...changes });
      readings.push(reading);
    };
    const token = await ask('activate', {});
    add(yes, token);
    add(yes, token, { nonce: null });
    add(yes, token, {
      license_key: ` ${licenseKey.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')}\n`,
    });
    add(null, token, { license_key: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' });
    add(null, token, { fingerprint: 'machine-9876543210' });
    add(null, token, { product: 'other' });
    add(null, token, { nonce: 'another-nonce' });
    add(null, token, { kind: 'offline' });
    add(null, `${token.slice(0, -8)}AAAAAAAA`);
    // A signed no is a verdict, whatever product it is about, and gives nothing.
    const unknown = 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA';
    add({ valid: false, code: 'not_found', ent: {} }, await ask('verify', { license_key: unknown }), {
      license_key: unknown,
    });
    add(
      { valid: false, code: 'not_activated', ent: {} },
      await ask('verify', { fingerprint: 'machine-9876543210' }),
      { fingerprint: 'machine-9876543210' },
    );
    const file = (await seller.post(`/api/v1/licenses/${id}/token`, {
      fingerprint: machine.fingerprint,
      days: 30,
    })) as { token: string };
    add(yes, file.token, { kind: 'offline', nonce: null });
    add(null, file.token, { nonce: null });
  });

  test.for(Object.keys(LANGUAGES))('is read by %s as it is meant', async (name, { skip }) => {
    const prepared = await LANGUAGES[name]?.();
    skip(!prepared, `${name} can't run here`);
    const [command = '', ...args] = prepared?.command ?? [];
    const input = JSON.stringify([seller.keys, cases]);
    const output = execFileSync(command, args, {
      cwd: prepared?.cwd,
      input,
      encoding: 'utf8',
      timeout: 600_000,
    });
    expect(JSON.parse(output)).toEqual(readings);
  });
});
