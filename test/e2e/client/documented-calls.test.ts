import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { createAccount } from '../support/customer.ts';
import { clientOf, runCommand } from '../support/service.ts';

// The calls on the pages for sellers run as they are written, in one shell for each page.

const ROOT = join(import.meta.dirname, '../../..');
const { origin } = inject('dashboard');

const linesOf = (page: string) =>
  [...readFileSync(join(ROOT, 'docs', page), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)]
    .map(([, code = '']) => code)
    .join('\n');

const newShell = async () => {
  const seller = await createAccount(clientOf(origin), 'pages');
  const { api_key: apiKey } = await seller.addKey();
  const run = async (script: string) => {
    const command = [
      'env',
      `LATCHKEY=${origin}`,
      `API_KEY=${apiKey}`,
      'bash',
      '-euo',
      'pipefail',
      '-c',
      script,
    ];
    const { code, stdout, stderr } = await runCommand(ROOT, ...command);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };
  return { seller, apiKey, run };
};

test('docs/trials.md starts one trial for a machine, and turns it into a purchase that keeps the seat', async () => {
  const { seller, apiKey, run } = await newShell();
  const script = linesOf('trials.md');
  const [setUp = '', start = '', purchase = ''] = script.split(/(?=^FINGERPRINT=)|(?=^TRIAL=)/m);
  expect(purchase).toContain('-X PATCH');
  await run(setUp);
  const [, licenseKey = ''] = /"license_key":"(TRIAL-\w+)"/.exec(await run(start)) ?? [];
  expect(await run(start)).toContain('license_key_taken');
  const machine = { fingerprint: '5f1c0f9e-laptop' };
  const trial = await seller.activate(apiKey, licenseKey, machine);
  expect(trial).toMatchObject({ code: 'valid', product: 'orrery-trial', entitlements: { export: false } });
  expect(trial.expires_at).not.toBeNull();

  expect(await run(`${start}\n${purchase}`)).toContain('"product":"orrery"');
  const bought = await seller.activate(apiKey, licenseKey, machine);
  expect(bought).toMatchObject({ code: 'valid', product: 'orrery', expires_at: null, seats: { used: 1 } });
  expect(bought.activation?.id).toBe(trial.activation?.id);
});

test('docs/license-keys.md finds a customer’s license and gives it another key', async () => {
  const { seller, run } = await newShell();
  const { license_key: licenseKey } = await seller.addLicense({ customer_email: 'grace@example.com' });
  const [found = '', rotated = ''] = (
    await run(linesOf('license-keys.md').replaceAll('\ncurl', '\necho\ncurl'))
  ).split(/\n+/);
  expect(found).toContain(licenseKey);
  expect(rotated).toContain('"license_key"');
  expect(rotated).not.toContain(licenseKey);
});
