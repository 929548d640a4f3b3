import { AppError } from '../shared/app-error.ts';
import { createLru } from '../shared/memory/lru.ts';
import { decideRate } from '../shared/rules/rate.ts';

/** With bursts of two seconds' worth. */
const CALLS_PER_SECOND = 20;
const ADDRESSES_IN_MEMORY = 10_000;

const recoveredAtMs = createLru<number>(ADDRESSES_IN_MEMORY);

/**
 * Limits the rate of an IP address at the checkout pages, which are public and query D1. Each isolate counts for itself:
 * an exact limit would cost more than the query that it saves.
 */
export const admitVisitor = (ip: string): void => {
  const decision = decideRate(recoveredAtMs.get(ip) ?? 0, Date.now(), CALLS_PER_SECOND);
  recoveredAtMs.set(ip, decision.recoveredAtMs);
  if (decision.allowed) return;
  throw new AppError('rate_limit_exceeded', {
    headers: { 'Retry-After': String(decision.retryAfterSeconds) },
  });
};
