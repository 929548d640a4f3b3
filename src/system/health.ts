import { sql } from 'drizzle-orm';
import * as z from 'zod';
import type { PublicCtx } from '../db/ctx.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { ConfigError, readConfig } from '../shared/config.ts';
import { logError } from '../shared/log.ts';
import packageJson from '../../package.json' with { type: 'json' };

const DATABASE_TIMEOUT_MS = 3_000;

export const healthBody = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    time: z.iso.datetime(),
    checks: z
      .record(z.string(), z.string())
      .meta({ description: 'The result of each check: `ok` or what is wrong.' }),
  })
  .meta({ id: 'Health' });

const checkDatabase = async ({ db }: PublicCtx): Promise<string> => {
  const timeout = AbortSignal.timeout(DATABASE_TIMEOUT_MS);
  const timedOut = new Promise<never>((_resolve, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('The database did not respond in time.')));
  });
  try {
    await Promise.race([db.run(sql`SELECT 1 FROM accounts LIMIT 1`), timedOut]);
    return 'ok';
  } catch (error) {
    logError('health_database_failed', error);
    return 'unavailable';
  }
};

const checkConfiguration = ({ env }: PublicCtx): string => {
  try {
    readConfig(env);
    return 'ok';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

export const checkHealth = async (ctx: PublicCtx): Promise<z.infer<typeof healthBody>> => {
  const checks = { database: await checkDatabase(ctx), configuration: checkConfiguration(ctx) };
  return {
    status: Object.values(checks).every((check) => check === 'ok') ? 'ok' : 'degraded',
    version: packageJson.version,
    time: isoTime(Date.now()),
    checks,
  };
};
