import { spawn } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';
import { fail } from './fail.ts';

interface Ended {
  code: number | null;
  output: string;
}

/** Wrangler waits for ever where the network drops its calls. A migration of a large database takes minutes. */
const TIMEOUT_MS = 20 * 60_000;

/** Wrangler would take secrets of these names from the environment, and prefer them to those of its file. */
const SECRETS = /^(?:API_KEY_SECRET|SEALING_KEYS|SIGNING_KEYS|OPERATOR_TOKEN)$/;

const environment = { ...process.env };
for (const name of Object.keys(environment)) if (SECRETS.test(name)) delete environment[name];

const run = async (
  args: string[],
  variables: Record<string, string>,
): Promise<Ended & { stdout: string }> => {
  const child = spawn('wrangler', args, {
    env: { ...environment, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve).on('error', reject);
  });
  const [stdout, stderr, code] = await Promise.all([readText(child.stdout), readText(child.stderr), ended]);
  return { code, stdout, output: `${stdout}${stderr}`.trim() };
};

/** Runs a command of wrangler that asks nothing. Stops the deployment with `advice` if it fails. */
export const wrangler = async (
  args: string[],
  advice: string,
  variables: Record<string, string> = {},
): Promise<string> => {
  const { code, output } = await run(args, { CI: 'true', ...variables });
  return code === 0 ? output : fail(`${output}\n\nwrangler ${args.slice(0, 3).join(' ')} failed. ${advice}`);
};

/** Returns the token with which wrangler calls Cloudflare, or null if nobody has signed in. */
export const findToken = async (): Promise<string | null> => {
  const given = process.env['CLOUDFLARE_API_TOKEN'];
  if (given) return given;
  const { code, stdout } = await run(['auth', 'token', '--json'], {});
  if (code !== 0) return null;
  return (JSON.parse(stdout) as { token?: string }).token ?? null;
};
