// `npm run deploy`: makes a service out of a Cloudflare account, or brings one up to date. It says what it will do and asks, and it
// can be repeated and continued: what exists is left as it is. See docs/deploying.md.
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readConfiguration } from '../src/shared/config/settings.ts';
import { type CloudflareAccount, listAccounts, openAccount } from './deploy/cloudflare.ts';
import { configure, originOf, readBase, secretsOf, writeConfiguration } from './deploy/configuration.ts';
import { DeployError, fail } from './deploy/fail.ts';
import { adopt, lookAround, planDomain, planResources, type Step } from './deploy/plan.ts';
import type { Secrets } from './deploy/recovery.ts';
import { linesOf, withSecretsFile } from './deploy/secrets-file.ts';
import { openRecovery, refuseToMake, takeSecrets } from './deploy/secrets.ts';
import { inviteOwner, waitForHealth } from './deploy/service.ts';
import {
  type OwnSettings,
  PRODUCTION,
  readSettings,
  refuseSharedDomain,
  type Target,
  targetOf,
  writeSettings,
} from './deploy/target.ts';
import { confirm } from './deploy/terminal.ts';
import { findToken, wrangler } from './deploy/wrangler.ts';

const OPTIONS = {
  env: { type: 'string', default: PRODUCTION },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  destroy: { type: 'boolean', default: false },
  recover: { type: 'string' },
} as const;

const readOptions = () => {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    const names = Object.keys(OPTIONS).map((name) => `--${name}`);
    return fail(`${(error as Error).message} The options are ${names.join(', ')}.`);
  }
};

type Options = ReturnType<typeof readOptions>;

const base = readBase();

const signIn = async (): Promise<string> =>
  (await findToken()) ??
  fail('Nobody has signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.');

/** The account that was used before, or that is named, or the only one. */
const chooseAccount = async (
  token: string,
  { settingsFile }: Target,
  settings: OwnSettings,
): Promise<string> => {
  const chosen = process.env['CLOUDFLARE_ACCOUNT_ID'] ?? settings.account_id;
  if (settings.account_id && chosen !== settings.account_id)
    fail(
      `CLOUDFLARE_ACCOUNT_ID isn’t the account of this service, ${settings.account_id}. A new service in another account begins without account_id and databases in ${settingsFile}.`,
    );
  if (chosen) return chosen;
  const accounts = await listAccounts(token);
  const names = accounts.map(({ id, name }) => `${id} (${name})`).join(', ');
  return accounts.length === 1 && accounts[0]
    ? accounts[0].id
    : fail(`Set CLOUDFLARE_ACCOUNT_ID to one of your accounts: ${names || 'the token can use none'}.`);
};

/** Deploys the Worker. The first deployment gives it the secrets. */
const deployWorker = async ({ configFile }: Target, secrets: Secrets | null): Promise<void> => {
  const run = async (...options: string[]) => {
    const args = ['deploy', '--config', configFile, ...options];
    await wrangler(args, 'The previous release keeps running, if there is one. Run the command again.');
  };
  await (secrets ? withSecretsFile(secrets, (file) => run('--secrets-file', file)) : run());
};

const originAtCloudflare = async (account: CloudflareAccount, { name }: Target): Promise<string> => {
  const subdomain =
    (await account.findSubdomain()) ??
    fail('The account has no name on workers.dev. Choose one in the dashboard of Workers, or set `domain`.');
  return `https://${name}.${subdomain}.workers.dev`;
};

const runSteps = async (steps: Step[]): Promise<void> => {
  for (const [i, { title, run }] of steps.entries()) {
    console.log(`${i + 1}/${steps.length} ${title}`);
    await run();
  }
};

const deploy = async (target: Target, options: Options): Promise<void> => {
  const settings = readSettings(target);
  refuseSharedDomain(target, settings);
  const token = await signIn();
  settings.account_id = await chooseAccount(token, target, settings);
  const account = openAccount(token, settings.account_id);
  const hasPaidPlan = await account.hasPaidPlan();
  if (hasPaidPlan === false)
    fail(
      'The Cloudflare account isn’t on the Workers Paid plan, which a service needs. Change it in the dashboard of Workers, under Plans.',
    );
  const origin = originOf(settings) ?? (await originAtCloudflare(account, target));
  const deployment = randomUUID();
  const known = { PUBLIC_ORIGIN: origin, DEPLOYMENT: deployment };
  const isOnWorkersDev = await account.isOnWorkersDev(target.name);
  const configured = () => configure(base, target, settings, known, isOnWorkersDev);
  const found = await lookAround(account, configured(), settings);
  const problem = adopt(target, configured(), found, settings);
  if (problem) fail(problem);
  const firstId = settings.databases['DB'];
  const hasAccounts = firstId !== undefined && (await account.hasAccounts(firstId));
  const missing = secretsOf(base).filter((name) => !found.secrets?.includes(name));
  const hasRecovery = existsSync(target.recoveryFile);
  if (!hasRecovery) refuseToMake(target, missing, hasAccounts);
  const save = () => {
    writeSettings(target, settings);
    writeConfiguration(target, configured());
  };
  const migrate = (binding: string, name: string): Step => ({
    title: `Apply the migrations to ${name}`,
    run: async () => {
      const args = ['d1', 'migrations', 'apply', binding, '--remote', '--config', target.configFile];
      await wrangler(
        args,
        'The previous release keeps running: nothing is deployed. See docs/deploying.md#a-migration-that-fails.',
      );
    },
  });
  let secrets: Secrets | null = null;
  const getSecrets: Step = {
    title: `${hasRecovery ? 'Read the secrets of' : 'Write the secrets to'} ${target.recoveryFile}`,
    run: async () => {
      secrets = await takeSecrets(target, missing, hasAccounts);
    },
  };
  const connect = planDomain(account, target, settings, found);
  const isNew = found.secrets === null;
  const steps: Step[] = [
    ...(missing.length > 0 ? [getSecrets] : []),
    ...planResources(account, configured(), found, settings, save),
    ...configured().d1_databases.map(({ binding, database_name }) => migrate(binding, database_name)),
    // If the domain is refused, no release is deployed whose emails lead there.
    ...(isNew ? [] : connect),
    {
      title: `Deploy the Worker ${target.name}${missing.length > 0 ? ` with ${missing.join(', ')}` : ''}`,
      run: () => deployWorker(target, secrets),
    },
    ...(isNew ? connect : []),
    { title: `Wait until ${origin}/health is ok`, run: () => waitForHealth(origin, deployment) },
  ];
  const place = settings.domain ? ` at ${settings.domain}` : '';
  console.log(
    `${target.name} (${target.environment})${place}, in the Cloudflare account ${settings.account_id}:`,
  );
  for (const { title } of steps) console.log(`  ${title}`);
  console.log(`Links in emails lead to ${origin}.`);
  if (hasPaidPlan === null)
    console.log('The token may not read the account’s plan. Make sure that it is Workers Paid.');
  if (options['dry-run']) return;
  await confirm('', 'deploy', options.yes);
  save();
  await runSteps(steps);
  const isClosed = readConfiguration(configured().vars).settings.registration === 'closed';
  // Also after a deployment that was cut off before it could print the link.
  const recovered = hasAccounts || isClosed ? null : await openRecovery(target);
  const operatorToken = recovered?.secrets['OPERATOR_TOKEN'];
  const invitation = operatorToken ? await inviteOwner(origin, operatorToken) : null;
  console.log(`\n${origin} answers.`);
  if (invitation) console.log(invitation);
};

/** Deletes an environment, except for its bucket with the backups. Production is deleted by hand. */
const destroy = async (target: Target, options: Options): Promise<void> => {
  if (target.environment === PRODUCTION) fail('--destroy is for environments beside production: pass --env.');
  const settings = readSettings(target);
  const token = await signIn();
  const account = openAccount(token, await chooseAccount(token, target, settings));
  const configuration = configure(base, target, settings);
  const { secrets, databases, queues, buckets } = await lookAround(account, configuration, settings);
  const files = [target.settingsFile, target.configFile, target.recoveryFile].filter((file) =>
    existsSync(file),
  );
  const names = [
    ...(secrets ? [`the Worker ${target.name}`] : []),
    ...Object.keys(queues).map((name) => `the queue ${name}`),
    ...Object.keys(databases).map((name) => `the D1 database ${name} with everything in it`),
    // These alone are left of a deletion that was cut off at its end.
    ...files,
  ];
  if (names.length === 0) fail(`There is nothing of ${target.name}.`);
  console.log(`This deletes ${names.join(', ')}.`);
  for (const name of Object.keys(buckets)) console.log(`The R2 bucket ${name} stays, with its backups.`);
  if (options['dry-run']) return;
  await confirm('Nothing of it can be brought back.', target.name, options.yes);
  if (secrets) await account.deleteWorker(target.name);
  for (const id of Object.values(queues)) await account.deleteQueue(id);
  for (const id of Object.values(databases)) await account.deleteDatabase(id);
  for (const file of files) rmSync(file);
};

const recover = async (target: Target, file: string): Promise<void> => {
  if (existsSync(file)) fail(`${file} exists already.`);
  const { secrets } = (await openRecovery(target)) ?? fail(`${target.recoveryFile} isn’t there.`);
  writeFileSync(file, linesOf(secrets), { mode: 0o600, flag: 'wx' });
  console.log(`${file} has the secrets. Delete it when you have used it.`);
};

try {
  const options = readOptions();
  const target = targetOf(options.env, base.name);
  if (options.recover !== undefined) await recover(target, options.recover);
  else await (options.destroy ? destroy : deploy)(target, options);
} catch (error) {
  if (!(error instanceof DeployError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
