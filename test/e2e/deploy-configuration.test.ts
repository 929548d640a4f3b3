import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Configuration, configure, readBase } from '../../scripts/deploy/configuration.ts';
import { targetOf } from '../../scripts/deploy/target.ts';
import { checkOutBuilt } from './support/checkout.ts';
import { cleanUp, runCommand } from './support/service.ts';

// The configuration that `npm run deploy` writes for an environment.

afterAll(cleanUp);

/** The names and ids by which a service's resources are found. */
const namesOf = ({ name, d1_databases, queues }: Configuration): string[] => [
  name,
  ...d1_databases.flatMap(({ database_name, database_id = 'none' }) => [database_name, database_id]),
  ...[...queues.producers, ...queues.consumers].flatMap(({ queue, dead_letter_queue = queue }) => [
    queue,
    dead_letter_queue,
  ]),
];

test('staging shares nothing with production', () => {
  const base = readBase();
  const configurationOf = (environment: string, id: string) => {
    const vars = { DATABASES: 'DB, DB2@2027-03-01' };
    const databases = { DB: `${id}-1`, DB2: `${id}-2` };
    return configure(base, targetOf(environment, base.name), { vars, databases });
  };
  const production = new Set(namesOf(configurationOf('production', 'one')));
  const staging = namesOf(configurationOf('staging', 'two'));
  expect(production).toContain('latchkey-webhooks-dead');
  expect(staging).toContain('latchkey-staging-2');
  expect(staging.filter((name) => production.has(name))).toEqual([]);
});

test.for(['production', 'staging'])(
  'wrangler takes the code and the configuration of %s',
  async (environment) => {
    const folder = await checkOutBuilt();
    const target = targetOf(environment, readBase().name);
    const ids = { DB: '00000000-0000-4000-8000-000000000001' };
    const configuration = configure(readBase(), target, { vars: {}, databases: ids });
    const file = `wrangler.${environment}.json`;
    writeFileSync(join(folder, file), JSON.stringify({ ...configuration, build: { command: 'true' } }));
    const { code, stdout, stderr } = await runCommand(
      folder,
      'npx',
      'wrangler',
      'deploy',
      '--dry-run',
      '--config',
      file,
      '--outdir',
      `dist/dry-${environment}`,
    );
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('ERROR')]);
    for (const resource of [
      target.name,
      'AccountGate',
      'GateBranch',
      'WebhookOutbox',
      `${target.name}-webhooks`,
    ])
      expect(stdout).toContain(resource);
    rmSync(join(folder, file));
  },
);
