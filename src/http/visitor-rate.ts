import type { Context } from 'hono';
import { AppError } from '../shared/app-error.ts';
import { createPaces } from '../shared/memory/paces.ts';
import { clientIp } from './client.ts';

const ADDRESSES_IN_MEMORY = 10_000;

/**
 * Limits the rate of an IP address at routes that anybody may call, with bursts of two seconds' worth. Each isolate counts
 * for itself: an exact limit would cost more than the work that it saves.
 */
export const createVisitorRate = (callsPerSecond: number) => {
  const addresses = createPaces(ADDRESSES_IN_MEMORY);
  return (c: Context): void => {
    const decision = addresses.spend(clientIp(c), Date.now(), callsPerSecond);
    if (decision.allowed) return;
    throw new AppError('rate_limit_exceeded', { retryAfterSeconds: decision.retryAfterSeconds });
  };
};
