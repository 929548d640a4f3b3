import type { Context } from 'hono';
import { AppError } from '../shared/app-error.ts';
import { createLru } from '../shared/memory/lru.ts';
import { decideRate } from '../shared/rules/rate.ts';
import { clientIp } from './client-ip.ts';

const ADDRESSES_IN_MEMORY = 10_000;

/**
 * Limits the rate of an IP address at routes that anybody may call, with bursts of two seconds' worth. Each isolate counts
 * for itself: an exact limit would cost more than the work that it saves.
 */
export const createVisitorRate = (callsPerSecond: number) => {
  const recoveredAtMs = createLru<number>(ADDRESSES_IN_MEMORY);
  return (c: Context): void => {
    const ip = clientIp(c);
    const decision = decideRate(recoveredAtMs.get(ip) ?? 0, Date.now(), callsPerSecond);
    recoveredAtMs.set(ip, decision.recoveredAtMs);
    if (decision.allowed) return;
    throw new AppError('rate_limit_exceeded', {
      headers: { 'Retry-After': String(decision.retryAfterSeconds) },
    });
  };
};
