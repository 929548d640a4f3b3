import { eq, lt, sql } from 'drizzle-orm';
import { throttles } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/hash.ts';

export interface Limit {
  /** What is throttled, for instance `login-email`, and whose attempts these are. */
  name: string;
  subject: string;
  attempts: number;
  windowMs: number;
}

const HOUR_MS = 3_600_000;
const LOGIN_WINDOW_MS = 900_000;

export const registerLimits = (ip: string): Limit[] => [
  { name: 'register-ip', subject: ip, attempts: 60, windowMs: HOUR_MS },
];

export const loginLimits = (ip: string, email: string): Limit[] => [
  { name: 'login-email', subject: email, attempts: 10, windowMs: LOGIN_WINDOW_MS },
  { name: 'login-ip', subject: ip, attempts: 100, windowMs: LOGIN_WINDOW_MS },
];

const bucketOf = ({ name, subject }: Limit) => sha256(`${name}\n${subject}`);

/** Spends an attempt of each before the costly work starts, so that attempts in parallel can't slip by. */
export const takeAttempts = async ({ db }: PublicCtx, limits: Limit[]): Promise<void> => {
  const nowMs = Date.now();
  const spend = (limit: Limit) =>
    db
      .insert(throttles)
      .values({ bucket: bucketOf(limit), attempts: 1, expiresAt: nowMs + limit.windowMs })
      .onConflictDoUpdate({ target: throttles.bucket, set: { attempts: sql`${throttles.attempts} + 1` } })
      .returning({ attempts: throttles.attempts, expiresAt: throttles.expiresAt });
  const [, ...spent] = await db.batch([
    db.delete(throttles).where(lt(throttles.expiresAt, nowMs)),
    ...limits.map(spend),
  ]);
  for (const [i, { attempts: allowed }] of limits.entries()) {
    const row = spent[i]?.[0];
    if (row && row.attempts > allowed) {
      const seconds = Math.max(1, Math.ceil((row.expiresAt - nowMs) / 1_000));
      throw new AppError('rate_limit_exceeded', { headers: { 'Retry-After': String(seconds) } });
    }
  }
};

/** Gives the attempts back: only failures count. */
export const returnAttempts = ({ db }: PublicCtx, limits: Limit[]) =>
  limits.map((limit) =>
    db
      .update(throttles)
      .set({ attempts: sql`max(0, ${throttles.attempts} - 1)` })
      .where(eq(throttles.bucket, bucketOf(limit))),
  );
