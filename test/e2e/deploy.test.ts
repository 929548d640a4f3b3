import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { type Cloudflare, startCloudflare } from './support/cloudflare.ts';
import { checkOutDeployment, type Deployment } from './support/deployment.ts';
import { cleanUp } from './support/service.ts';

// `npm run deploy` against a double of Cloudflare's API. What Cloudflare
// itself would do was never seen: see docs/never-run.md.

let deployment: Deployment;
let folder: string;
let cloudflare: Cloudflare;

beforeAll(async () => {
  deployment = await checkOutDeployment();
  ({ folder } = deployment);
});
afterAll(cleanUp);

const begin = async () => {
  cloudflare = await startCloudflare();
  deployment.forget();
};
const deploy = (...args: string[]) => deployment.deploy(cloudflare, args);
const deployWith = (variables: string[], ...args: string[]) => deployment.deploy(cloudflare, args, variables);

const own = (environment: string) =>
  deployment.write(environment, { vars: { PUBLIC_ORIGIN: cloudflare.origin, REGISTRATION: 'invite' } });
const read = (file: string) => deployment.read(file);
const SECRETS = ['API_KEY_SECRET', 'OPERATOR_TOKEN', 'SEALING_KEYS', 'SIGNING_KEYS'];

describe('a first deployment', () => {
  beforeAll(begin);
  afterAll(() => cloudflare.close());

  test('says what it would do, and does nothing of it', async () => {
    own('production');
    const { code, stdout, stderr } = await deploy('--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const line of ['Create the D1 database latchkey', 'Create the queue latchkey-webhooks-dead'])
      expect(stdout).toContain(line);
    expect(cloudflare.changes).toEqual([]);
    const unasked = await deploy();
    expect([unasked.code, unasked.stderr]).toEqual([
      1,
      'Nothing was changed. Pass --yes where nobody can be asked.\n',
    ]);
    expect(cloudflare.changes).toEqual([]);
  });

  test('stops where the account’s plan is the free one, and says where it can’t tell', async () => {
    cloudflare.plans.current = ['free'];
    const { code, stderr } = await deploy('--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('isn’t on the Workers Paid plan')]);
    cloudflare.plans.current = null;
    expect((await deploy('--dry-run')).stdout).toContain('Make sure that it is Workers Paid.');
    cloudflare.plans.current = ['workers_paid'];
    expect((await deploy('--dry-run')).stdout).not.toContain('Make sure');
    expect(cloudflare.changes).toEqual([]);
  });

  test('makes a service with one command, and prints the first owner’s link and no secret', async () => {
    const { code, stdout, stderr } = await deploy('--yes');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${cloudflare.origin}/register#invitation=once`);
    expect([...cloudflare.databases.keys()]).toEqual(['latchkey']);
    expect([...cloudflare.queues.keys()]).toEqual(['latchkey-webhooks', 'latchkey-webhooks-dead']);
    expect([...cloudflare.buckets]).toEqual(['latchkey-backups']);
    const worker = cloudflare.workers.get('latchkey');
    expect([...(worker?.secrets.keys() ?? [])].toSorted()).toEqual(SECRETS);
    const tables = cloudflare.databases
      .get('latchkey')
      ?.sql.prepare('SELECT count(*) AS n FROM licenses')
      .get();
    expect(tables).toEqual({ n: 0 });
    const secrets = (worker?.metadata.bindings ?? []).flatMap(({ type, text }) =>
      type === 'secret_text' ? [text ?? ''] : [],
    );
    expect(secrets.length).toBe(4);
    // Wrangler would prefer those that the tests have in their environment.
    expect(secrets.join()).not.toContain('only-for-tests');
    const seen =
      stdout +
      read('deploy.production.json') +
      read('deploy.production.recovery') +
      read('wrangler.production.json');
    for (const secret of secrets) expect(seen).not.toContain(secret);
    expect(statSync(join(folder, 'deploy.production.recovery')).mode & 0o777).toBe(0o600);
  });

  test('run again, only deploys the code', async () => {
    cloudflare.changes.length = 0;
    const before = read('deploy.production.recovery');
    const { code, stdout } = await deploy('--yes');
    expect(code).toBe(0);
    expect(stdout).not.toContain('Create the');
    expect(cloudflare.changes.filter((change) => /d1|POST \/queues$/.test(change))).toEqual([]);
    expect([cloudflare.databases.size, cloudflare.queues.size]).toEqual([1, 2]);
    expect(read('deploy.production.recovery')).toBe(before);
  });

  test('stays in its Cloudflare account, and says how a new service begins in another', async () => {
    cloudflare.changes.length = 0;
    const { code, stderr } = await deployWith(['CLOUDFLARE_ACCOUNT_ID=another'], '--yes');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('without account_id and databases in deploy.production.json'),
    ]);
    expect(cloudflare.changes).toEqual([]);
  });

  test('waits for its own release, not for an earlier deployment of the same version', async () => {
    const { version } = packageJson;
    cloudflare.staleHealth.push({ status: 'ok', version }, { status: 'ok', version, deployment: 'earlier' });
    expect((await deploy('--yes')).code).toBe(0);
    expect(cloudflare.staleHealth).toEqual([]);
  });

  test('keeps the secrets where only the passphrase opens them', async () => {
    const wrong = await deployWith(['LATCHKEY_PASSPHRASE=wrong'], '--recover', 'secrets.log');
    expect([wrong.code, existsSync(join(folder, 'secrets.log'))]).toEqual([1, false]);
    expect((await deploy('--recover', 'secrets.log')).code).toBe(0);
    expect(cloudflare.workers.get('latchkey')?.secrets.size).toBe(4);
    expect(read('secrets.log')).toMatch(/^API_KEY_SECRET=[0-9a-f]{64}$/m);
    expect(statSync(join(folder, 'secrets.log')).mode & 0o777).toBe(0o600);
  });

  test('never replaces a secret that the Worker has, which may have been rotated', async () => {
    cloudflare.workers.get('latchkey')?.secrets.delete('OPERATOR_TOKEN');
    expect((await deploy('--yes')).code).toBe(0);
    const bindings = cloudflare.workers.get('latchkey')?.metadata.bindings ?? [];
    expect(
      bindings.filter(({ text, type }) => type === 'secret_text' && text).map(({ name }) => name),
    ).toEqual(['OPERATOR_TOKEN']);
  });

  test('prints no link where nobody can register', async () => {
    const vars = { PUBLIC_ORIGIN: cloudflare.origin, REGISTRATION: 'closed' };
    deployment.write('production', { vars });
    const { code, stdout } = await deploy('--yes');
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('#invitation')]);
  });

  test('goes on where OPERATOR_TOKEN was changed, and says how the first owner gets a link', async () => {
    own('production');
    cloudflare.workers.get('latchkey')?.secrets.set('OPERATOR_TOKEN', 'changed');
    const { code, stdout, stderr } = await deploy('--yes');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('npm run latchkey -- operator invite');
    expect(stdout).not.toContain('#invitation');
  });

  test('refuses to replace the secrets of a database that has accounts', async () => {
    rmSync(join(folder, 'deploy.production.recovery'));
    const sql = cloudflare.databases.get('latchkey')?.sql;
    cloudflare.workers.get('latchkey')?.secrets.clear();
    sql?.exec(
      `INSERT INTO users (account_id, email, password_hash) VALUES ('acct_1', 'ada@example.com', 'x')`,
    );
    expect((await deploy('--dry-run')).stderr).toContain('Bring the file back.');
    cloudflare.workers.clear();
    const { code, stderr } = await deploy('--yes');
    expect([code, cloudflare.workers.size]).toEqual([1, 0]);
    expect(stderr).toContain('Bring the file back.');
  });
});

test('an environment can be deleted, and production can’t', async () => {
  await begin();
  for (const name of ['latchkey', 'latchkey-staging']) {
    const sql = new DatabaseSync(':memory:');
    cloudflare.databases.set(name, { id: name, sql });
    cloudflare.workers.set(name, {
      secrets: new Map(),
      metadata: { bindings: [] },
      deployments: 1,
      isOnWorkersDev: true,
    });
  }
  const production = await deploy('--destroy', '--yes');
  expect(production.stderr).toContain('--destroy is for environments beside production');
  expect((await deploy('--destroy', '--env', 'staging')).code).toBe(1);
  expect(cloudflare.changes).toEqual([]);
  expect((await deploy('--destroy', '--env', 'staging', '--yes')).code).toBe(0);
  expect([...cloudflare.databases.keys(), ...cloudflare.workers.keys()]).toEqual(['latchkey', 'latchkey']);
  await cloudflare.close();
});

test('a deletion that was cut off at its end can be repeated, and a deployment then says how to go on', async () => {
  await begin();
  const vars = { PUBLIC_ORIGIN: cloudflare.origin };
  deployment.write('staging', { vars, databases: { DB: 'gone' } });
  const refused = await deploy('--env', 'staging', '--yes');
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('delete its id from deploy.staging.json'),
  ]);
  expect((await deploy('--destroy', '--env', 'staging', '--yes')).code).toBe(0);
  expect(existsSync(join(folder, 'deploy.staging.json'))).toBe(false);
  expect(cloudflare.changes).toEqual([]);
  expect((await deploy('--destroy', '--env', 'staging', '--yes')).stderr).toContain('There is nothing of');
  await cloudflare.close();
});

test('a deployment that fails halfway goes on where it stopped, with the same secrets', async () => {
  await begin();
  own('production');
  const file = join(folder, 'deploy.production.recovery');
  // After the database was made, amid the migrations, and before the Worker has its queues' consumers.
  const cuts = [1, 10];
  const recoveries: string[] = [];
  for (const changes of cuts) {
    cloudflare.refuseAfter(changes);
    expect((await deploy('--yes')).code).toBe(1);
    recoveries.push(readFileSync(file, 'utf8'));
  }
  cloudflare.refuseAfter(Infinity);
  const { code, stdout, stderr } = await deploy('--yes');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('/register#invitation=once');
  expect(new Set([...recoveries, readFileSync(file, 'utf8')]).size).toBe(1);
  expect([cloudflare.databases.size, cloudflare.queues.size, cloudflare.workers.size]).toEqual([1, 2, 1]);
  await cloudflare.close();
});
