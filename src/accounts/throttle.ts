import { eq, lt, sql } from 'drizzle-orm';
import { throttles } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { HOUR_MS } from '../shared/rules/dates.ts';
import { sha256 } from '../shared/hash.ts';

export interface Limit {
  /** For example `login-email`. */
  name: string;
  /** The IP address or email address whose attempts are counted. */
  subject: string;
  attempts: number;
  windowMs: number;
}

const LOGIN_WINDOW_MS = 900_000;

export const registerLimits = (ip: string): Limit[] => [
  { name: 'register-ip', subject: ip, attempts: 60, windowMs: HOUR_MS },
];

export const loginLimits = (ip: string, email: string): Limit[] => [
  { name: 'login-email', subject: email, attempts: 10, windowMs: LOGIN_WINDOW_MS },
  { name: 'login-ip', subject: ip, attempts: 100, windowMs: LOGIN_WINDOW_MS },
];

const bucketOf = ({ name, subject }: Limit) => sha256(`${name}\n${subject}`);

/** Counts an attempt against each limit before the expensive work starts, so that parallel attempts can't exceed it. */
export const consumeAttempts = async ({ db }: PublicCtx, limits: Limit[]): Promise<void> => {
  const nowMs = Date.now();
  const countAttempt = (limit: Limit) =>
    db
      .insert(throttles)
      .values({ bucket: bucketOf(limit), attempts: 1, expiresAt: nowMs + limit.windowMs })
      .onConflictDoUpdate({ target: throttles.bucket, set: { attempts: sql`${throttles.attempts} + 1` } })
      .returning({ attempts: throttles.attempts, expiresAt: throttles.expiresAt });
  const [, ...counted] = await db.batch([
    db.delete(throttles).where(lt(throttles.expiresAt, nowMs)),
    ...limits.map(countAttempt),
  ]);
  for (const [i, { attempts: maxAttempts }] of limits.entries()) {
    const row = counted[i]?.[0];
    if (row && row.attempts > maxAttempts) {
      const seconds = Math.max(1, Math.ceil((row.expiresAt - nowMs) / 1_000));
      throw new AppError('rate_limit_exceeded', { headers: { 'Retry-After': String(seconds) } });
    }
  }
};

/** Statements that refund the attempt of a successful login, because only failures count. */
export const refundAttempts = ({ db }: PublicCtx, limits: Limit[]) =>
  limits.map((limit) =>
    db
      .update(throttles)
      .set({ attempts: sql`max(0, ${throttles.attempts} - 1)` })
      .where(eq(throttles.bucket, bucketOf(limit))),
  );
