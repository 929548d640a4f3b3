import { stat } from 'node:fs/promises';
import type { ApiClient } from '../../api/client.ts';
import type { components } from '../../api/schema.ts';
import { isObject } from '../../core/bytes.ts';
import { openKeyRing } from '../../core/key-ring.ts';
import { machineFingerprint } from '../../node/fingerprint.ts';
import { command } from '../command.ts';
import { configPath } from '../config.ts';
import { answer } from '../connection.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { typed } from '../invocation.ts';
import { readPinnedKeys } from '../pinned-keys.ts';
import { clean } from '../table.ts';
import { fetchKeys } from './keys.ts';

interface Finding {
  check: string;
  result: 'ok' | 'warning' | 'failed' | 'skipped';
  message: string;
  advice?: string;
}

const CLOCK_WARNING_MS = 30_000;
/** An application refuses tokens of a service whose clock is this far ahead. */
const CLOCK_LIMIT_MS = 300_000;

const ok = (message: string) => ({ result: 'ok', message }) as const;
const warning = (message: string, advice: string) => ({ result: 'warning', message, advice }) as const;
const failed = (message: string, advice: string) => ({ result: 'failed', message, advice }) as const;
const skipped = (message: string) => ({ result: 'skipped', message }) as const;

type Result = Omit<Finding, 'check'>;

const failure = (error: unknown, advice: string): Result => {
  if (!(error instanceof CliError))
    return failed(error instanceof Error ? error.message : String(error), advice);
  const id = error.requestId === null ? '' : ` (request id ${error.requestId})`;
  return failed(`${error.message}${id}`, error.advice ?? advice);
};

const checkConfiguration = async ({ settings }: Context): Promise<Result> => {
  const { url, api_key } = await settings();
  if (!url || !api_key)
    return failed(
      url ? 'There is no API key.' : 'The service’s URL isn’t known.',
      `Run ${typed('login')}, or set LATCHKEY_URL and LATCHKEY_API_KEY.`,
    );
  const mode = (await stat(configPath()).catch(() => null))?.mode ?? 0;
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    return warning(`Other users can read ${configPath()}.`, `Run chmod 600 "${configPath()}".`);
  return ok(url.startsWith('http:') ? `${url}, which isn’t encrypted` : url);
};

const clockResult = (offsetMs: number): Result => {
  const seconds = Math.round(Math.abs(offsetMs) / 1_000);
  const message = `This computer’s clock is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the service’s.`;
  const advice = 'Set the clock, and let the system sync it with NTP.';
  if (Math.abs(offsetMs) > CLOCK_LIMIT_MS) return failed(message, advice);
  return Math.abs(offsetMs) > CLOCK_WARNING_MS ? warning(message, advice) : ok(message);
};

type Health = components['schemas']['Health'];

const isHealth = (body: unknown): body is Health => isObject(body) && isObject(body['checks']);

/** A service that is degraded answers with the status of an error, and says what is wrong. */
const readHealth = async (api: ApiClient): Promise<Health> => {
  const call = api.GET('/health');
  const body: unknown = await call.then(
    ({ error }) => error,
    () => null,
  );
  return isHealth(body) ? body : answer(call);
};

const serviceResult = ({ status, checks }: Health): Result => {
  if (status === 'ok') return ok('All of its own checks passed.');
  // A service works without email, too.
  const wrong = Object.entries(checks).filter(([, said]) => said !== 'ok' && said !== 'not_configured');
  return failed(
    `The service is degraded: ${wrong.map(([check, said]) => `${check}: ${said}`).join('; ')}`,
    'Tell whoever runs the service.',
  );
};

/** Returns the findings about the network, the service, and the clock. */
const checkNetwork = async ({ publicApi }: Context): Promise<[Result, Result, Result]> => {
  const startMs = Date.now();
  try {
    const health = await readHealth(await publicApi());
    const tookMs = Date.now() - startMs;
    const offsetMs = startMs + tookMs / 2 - Date.parse(health.time);
    const network = ok(`Latchkey ${health.version} answered in ${tookMs} ms.`);
    return [network, serviceResult(health), clockResult(offsetMs)];
  } catch (error) {
    const silent = skipped('The service didn’t answer.');
    return [failure(error, 'Try again later.'), silent, silent];
  }
};

/** Returns the finding about the API key, and the account it belongs to if the key may read it. */
const checkKey = async ({ api }: Context): Promise<[Result, string | undefined]> => {
  try {
    const { id, email } = await answer((await api()).GET('/api/account'));
    return [ok(`The key has the scope full, in the account of ${email}.`), id];
  } catch (error) {
    if (error instanceof CliError && error.code === 'insufficient_scope')
      return [ok('The key has the scope verify, as it should in an application.'), undefined];
    return [failure(error, `Create another API key in the dashboard, and run ${typed('login')}.`), undefined];
  }
};

const checkSigningKeys = async (
  context: Context,
  account: string | undefined,
  file: string | undefined,
): Promise<Result> => {
  const advice = `Run ${typed('keys pull --out FILE')}, and release a new version of the application.`;
  try {
    const pinned = file === undefined ? null : await readPinnedKeys(file);
    const id = pinned?.account ?? account;
    if (id === undefined) return skipped('Pass --keys or --account: this key can’t tell its account.');
    if (pinned && account !== undefined && pinned.account !== account)
      return failed(
        `The pinned keys belong to the account ${pinned.account}, the API key to ${account}.`,
        advice,
      );
    const { pinned: served, chain } = await fetchKeys(context, id);
    const count = `${served.keys.length} public ${served.keys.length === 1 ? 'key' : 'keys'}`;
    if (!pinned) return ok(`The account has ${count}. Pass --keys to compare them with a file.`);
    const ring = openKeyRing(pinned);
    await ring.follow(chain);
    const strange = served.keys.filter(({ kid }) => !ring.find(kid));
    if (strange.length > 0)
      return failed('The service has a key that the pinned keys don’t lead to.', advice);
    return ok(`The pinned keys lead to all of the account’s ${count}.`);
  } catch (error) {
    return failure(error, advice);
  }
};

const checkFingerprint = (product: string): Result => {
  try {
    return ok(`${machineFingerprint(product)} for the product ${product}`);
  } catch (error) {
    return {
      ...failure(error, 'createLicense() keeps such an id itself, in dir: put dir on a volume.'),
      result: 'warning',
    };
  }
};

const MARKS = {
  ok: ['green', '✓'],
  warning: ['yellow', '!'],
  failed: ['red', '✗'],
  skipped: ['dim', '–'],
} as const;

export const doctor = command({
  name: 'doctor',
  args: [],
  summary: 'Check the network, service, clock, API key, signing keys, and fingerprint',
  details: ['Exits with 0 if all is well, 1 if a check failed, and 2 if the service can’t be reached.'],
  options: {
    keys: { value: 'FILE', help: 'The pinned keys, as keys pull writes them' },
    account: { value: 'ID', help: 'The account’s id, for an API key of scope verify' },
    product: { value: 'CODE', help: 'The product whose fingerprint to show' },
  },
  run: async (context, _args, { keys, account, product }) => {
    const { out } = context;
    const findings: Finding[] = [];
    const add = (check: string, result: Result) => {
      findings.push({ check, ...result });
      const [color, mark] = MARKS[result.result];
      if (out.isJson) return;
      out.text(`${out.colors[color](mark)} ${check}: ${clean(result.message)}`);
      if (result.advice !== undefined) out.text(`  ${result.advice}`);
    };

    add('configuration', await checkConfiguration(context));
    const { url, api_key } = await context.settings();
    const unasked = skipped('There is no URL.');
    const [network, service, clock] = url
      ? await checkNetwork(context)
      : ([unasked, unasked, unasked] as const);
    add('network', network);
    add('service', service);
    add('clock', clock);
    const isReachable = network.result === 'ok';
    const [key, own] =
      isReachable && api_key ? await checkKey(context) : [skipped('Not checked.'), undefined];
    add('API key', key);
    add(
      'signing keys',
      isReachable ? await checkSigningKeys(context, account ?? own, keys) : skipped('Not checked.'),
    );
    add('fingerprint', checkFingerprint(product ?? account ?? own ?? 'latchkey'));

    if (out.isJson) out.json({ checks: findings });
    if (network.result === 'failed') return 2;
    return findings.some(({ result }) => result === 'failed') ? 1 : 0;
  },
});
