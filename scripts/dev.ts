// `npm run dev`: creates the local secrets, migrates the local databases and starts `wrangler dev`.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, parseEnv } from 'node:util';
import { readConfiguration } from '../src/shared/config/settings.ts';
import { MAIL_PREVIEW, printMails } from './local-mail.ts';
import { migrate } from './local-migrations.ts';

const SECRETS = '.dev.vars';

const writeFreshSecrets = () =>
  writeFileSync(
    SECRETS,
    [
      '# Created by `npm run dev` for this checkout. Without these secrets, stored API keys can’t be read.',
      `API_KEY_SECRET=${randomBytes(32).toString('hex')}`,
      `SEALING_KEYS=k1:${randomBytes(32).toString('base64')}`,
      `SIGNING_KEYS=${randomBytes(32).toString('base64')}\n`,
    ].join('\n'),
    { mode: 0o600 },
  );

const STRIPE_SECRETS = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'];
const OPTIONAL_SECRETS = [...STRIPE_SECRETS, 'STRIPE_PRICES', 'OPERATOR_TOKEN'];

/**
 * The configuration of a local run. Wrangler reads only the secrets in .dev.vars that its configuration requires, so the
 * list gets more names. It warns about cron triggers, which it doesn't run: `runScheduled` below does.
 */
const writeLocalConfig = (secretNames: string[]): string => {
  const config = readFileSync('wrangler.toml', 'utf8');
  const list = secretNames.map((name) => `, "${name}"`).join('');
  const local = config
    .replace(/^required = \[(.*)\]$/m, `required = [$1${list}]`)
    .replace(/^\[triggers\]\ncrons = .*\n/m, '');
  writeFileSync('wrangler.local.toml', local);
  return 'wrangler.local.toml';
};

const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

const env = {
  ...process.env,
  // Node keeps what it compiles of wrangler here, so that wrangler starts faster from the second run on.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? 'node_modules/.cache/node',
  // By default, wrangler connects Workers of the same name across checkouts.
  WRANGLER_REGISTRY_PATH: `${process.cwd()}/.wrangler/registry`,
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  // Wrangler would fetch `request.cf` at every start and warn when offline. The service doesn't read it.
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  // Wrangler would store a trace of every request on the serving thread, which takes most of its time under load.
  X_LOCAL_OBSERVABILITY: 'false',
};

const args = process.argv.slice(2);
const { values } = parseArgs({ args, options: { 'persist-to': { type: 'string' } }, strict: false });

if (!existsSync(SECRETS)) writeFreshSecrets();
const secrets = parseEnv(readFileSync(SECRETS, 'utf8'));
const [, DATABASES] = /^DATABASES = "(.*)"$/m.exec(readFileSync('wrangler.toml', 'utf8')) ?? [];
const { settings, problems } = readConfiguration({ ...secrets, DATABASES });
for (const problem of problems)
  fail(`${problem.startsWith('DATABASES') ? 'wrangler.toml' : SECRETS}: ${problem}`);
const problem = migrate(
  settings.databases.map(({ binding }) => binding),
  String(values['persist-to'] ?? '.wrangler/state'),
  env,
);
if (problem !== null) fail(problem);

// Picks any free port. Two checkouts that start at the same time would both find the default debugger port free.
if (!args.some((arg) => arg.startsWith('--inspector-port'))) args.push('--inspector-port=0');

// Developers receive webhooks on this machine and pay in the sandbox, unless they choose otherwise or have Stripe's test keys.
const isStripe = STRIPE_SECRETS.every((name) => secrets[name]);
const payments = secrets['PAYMENTS'] ?? (isStripe ? 'stripe' : 'sandbox');
args.push('--var', 'WEBHOOK_ALLOW_LOOPBACK:true', '--var', `PAYMENTS:${payments}`);
args.push('--var', 'MAIL_FROM:latchkey@example.com', '--var', `MAIL_PREVIEW:${MAIL_PREVIEW}`);
if (secrets['REGISTRATION']) args.push('--var', `REGISTRATION:${secrets['REGISTRATION']}`);
args.push('--config', writeLocalConfig(OPTIONAL_SECRETS.filter((name) => secrets[name])));

const wrangler = spawn('wrangler', ['dev', ...args], {
  env,
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
});

const isListening = async (origin: string): Promise<boolean> => {
  try {
    await fetch(`${origin}/health`);
    return true;
  } catch {
    return false;
  }
};

const printDashboardUrl = async (origin: string) => {
  while (!(await isListening(origin))) await delay(100);
  // Wrangler logs the request to /health just after it was answered.
  await delay(200);
  console.log(`\nDashboard: ${origin}`);
  console.log(
    `Emails aren’t sent. Read them at ${origin}${MAIL_PREVIEW}, or in the files that are named here.`,
  );
};

const HOUR_MS = 3_600_000;

/** `wrangler dev` doesn't run cron triggers by itself. */
const runScheduled = async (origin: string) => {
  await fetch(`${origin}/cdn-cgi/handler/scheduled`).catch((error: unknown) => {
    console.error('Could not call the scheduled handler:', error);
  });
};

wrangler.on('message', (message) => {
  const { event, ip, port } = JSON.parse(message as string) as { event: string; ip: string; port: number };
  if (event !== 'DEV_SERVER_READY') return;
  const origin = `http://${/^(?:127\.0\.0\.1|0\.0\.0\.0|\*)$/.test(ip) ? 'localhost' : ip}:${port}`;
  void printDashboardUrl(origin);
  void printMails(origin);
  setInterval(() => void runScheduled(origin), HOUR_MS);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => wrangler.kill(signal));
wrangler.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
