import * as z from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { accountDatabases, type NamedDatabase } from '../db/client.ts';
import { mistakeIn, readIdentity } from '../db/identity.ts';
import { hasMail } from '../mail/deliver.ts';
import { findNearlyFull, type Found } from '../shared/config/places.ts';
import { ConfigError, problemsOf, settingsOf } from '../shared/config/settings.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';

const DATABASE_TIMEOUT_MS = 3_000;

export const healthBody = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    deployment: z.string().optional().meta({
      description: 'Only where `npm run deploy` has deployed the service: the name of that deployment.',
    }),
    time: z.iso.datetime(),
    checks: z.record(z.string(), z.string()).meta({
      description:
        'The result of each check: `ok` or what is wrong. A service that can’t send email says `not_configured` for `mail`, which doesn’t make it degraded.',
    }),
    registration: z.enum(['invite', 'closed']).optional().meta({
      description:
        'Only where registration isn’t open: whether those with an invitation can create an account, or nobody can.',
    }),
    mail_preview: z.string().optional().meta({
      description: 'Only in local runs: the path at which to read the emails that they don’t send.',
    }),
  })
  .meta({ id: 'Health' });

/** Returns what the database says of itself, or null if it doesn't respond. */
const ask = async (database: NamedDatabase): Promise<Found | null> => {
  const timeout = AbortSignal.timeout(DATABASE_TIMEOUT_MS);
  const timedOut = new Promise<never>((_resolve, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('The database did not respond in time.')));
  });
  try {
    return await Promise.race([readIdentity(database), timedOut]);
  } catch (error) {
    logError('health_database_failed', error, { database: database.binding });
    return null;
  }
};

/** Returns what is wrong with DATABASES, or null. */
const findDatabasesProblem = (env: Env): string | null => {
  try {
    accountDatabases(env);
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

const queryDatabases = async (env: Env): Promise<string> => {
  if (findDatabasesProblem(env)) return 'not checked';
  const databases = accountDatabases(env);
  const answers = await Promise.all(databases.map(ask));
  const outages = databases.filter((_, i) => !answers[i]).map(({ binding }) => binding);
  if (outages.length > 0) return `unavailable: ${outages.join(', ')}`;
  const found = answers.filter((answer) => answer !== null);
  return mistakeIn(databases, found) ?? findNearlyFull(databases, found) ?? 'ok';
};

const DATABASE_CHECK_MS = 2_000;
let lastCheck: { startMs: number; result: Promise<string> } | null = null;

/** The calls of two seconds share the queries, so that a flood of health checks doesn't load the databases. */
const checkDatabases = async (env: Env): Promise<string> => {
  const nowMs = Date.now();
  if (!lastCheck || Math.abs(nowMs - lastCheck.startMs) >= DATABASE_CHECK_MS) {
    lastCheck = { startMs: nowMs, result: queryDatabases(env) };
    return lastCheck.result;
  }
  // The query never ends if its client disconnects, so every other caller has a timeout of its own.
  const timedOut = scheduler.wait(DATABASE_TIMEOUT_MS).then(() => 'unavailable');
  return Promise.race([lastCheck.result, timedOut]);
};

const checkConfiguration = (env: Env): string => problemsOf(env)[0] ?? findDatabasesProblem(env) ?? 'ok';

export const checkHealth = async (env: Env): Promise<z.infer<typeof healthBody>> => {
  const checks = { database: await checkDatabases(env), configuration: checkConfiguration(env) };
  const { deployment, mailPreview, registration } = settingsOf(env);
  const mail = hasMail(env) ? 'ok' : 'not_configured';
  return {
    status: Object.values(checks).every((check) => check === 'ok') ? 'ok' : 'degraded',
    version: packageJson.version,
    ...(deployment !== null && { deployment }),
    time: isoTime(Date.now()),
    checks: { ...checks, mail },
    ...(registration !== 'open' && { registration }),
    ...(mailPreview !== null && { mail_preview: mailPreview }),
  };
};
