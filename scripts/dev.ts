// `npm run dev`: makes what a local run needs where it is missing, then hands over to `wrangler dev`.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readConfig } from '../src/shared/config.ts';

const SECRETS = '.dev.vars';

const writeFreshSecrets = () =>
  writeFileSync(
    SECRETS,
    [
      '# Made for this checkout by `npm run dev`. Keep it: stored API keys can’t be read without it.',
      `API_KEY_SECRET=${randomBytes(32).toString('hex')}`,
      `SEALING_KEYS=k1:${randomBytes(32).toString('base64')}`,
      '',
    ].join('\n'),
    { mode: 0o600 },
  );

const STRIPE_SECRETS = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'];

/** Of .dev.vars wrangler reads the secrets that its configuration requires and no others. */
const writeConfigWith = (names: string[]): string => {
  const required = /^required = \[(.*)\]$/m;
  const config = readFileSync('wrangler.toml', 'utf8');
  const list = names.map((name) => `"${name}"`).join(', ');
  writeFileSync('wrangler.local.toml', config.replace(required, `required = [$1, ${list}]`));
  return 'wrangler.local.toml';
};

const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

const env = {
  ...process.env,
  // Two checkouts would otherwise find each other's Workers by name.
  WRANGLER_REGISTRY_PATH: `${process.cwd()}/.wrangler/registry`,
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  // Fetched from Cloudflare at every start, with a warning where there is no network; nothing here reads it.
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  // wrangler would keep a trace of every call, on the thread that serves: under load the most of its time.
  X_LOCAL_OBSERVABILITY: 'false',
};

const applyMigrations = () => {
  const { status, stdout, stderr } = spawnSync('wrangler', ['d1', 'migrations', 'apply', 'DB', '--local'], {
    env: { ...env, CI: 'true' },
    encoding: 'utf8',
  });
  if (status !== 0) fail(`The database could not be brought up to date:\n${stdout}${stderr}`);
};

if (!existsSync(SECRETS)) writeFreshSecrets();
const secrets = parseEnv(readFileSync(SECRETS, 'utf8'));
try {
  readConfig(secrets);
} catch (error) {
  fail(`${SECRETS}: ${error instanceof Error ? error.message : String(error)}`);
}
applyMigrations();

const args = process.argv.slice(2);
// Any free port: of two checkouts started at once, both would find the debugger's usual one still free.
if (!args.some((arg) => arg.startsWith('--inspector-port'))) args.push('--inspector-port=0');

// A receiver on this machine is what a developer tries webhooks with, and the sandbox is what they pay at.
const isStripe = STRIPE_SECRETS.every((name) => secrets[name]);
args.push('--var', 'WEBHOOK_ALLOW_LOOPBACK:true', '--var', `PAYMENTS:${isStripe ? 'stripe' : 'sandbox'}`);
if (isStripe) args.push('--config', writeConfigWith(STRIPE_SECRETS));

const wrangler = spawn('wrangler', ['dev', ...args], { env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => wrangler.kill(signal));
wrangler.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
