import type { Period } from './period.ts';

// What a gate counts, and what it knows of its account's usage.

export interface Counter {
  value: number;
  /** When the value last changed. */
  atMs: number;
}

export type CountedCall = 'verify' | 'create';

/** Statistics show the calls of this many days. */
export const USAGE_DAYS = 30;

export interface DayUsage {
  date: string;
  verify: number;
  create: number;
}

export interface ProductUsage {
  code: string;
  calls: number;
}

/** The counters of branches by days and products, each with its value. */
export type BranchCounters = [name: string, value: number][];

export interface Usage {
  apiUsage: number;
  apiLimit: number;
  period: Period;
}

/** The calls of one period, as far as they are known here. */
export interface PeriodCalls {
  apiUsage: number;
  /** How many more calls may be counted here. */
  remaining: number;
}

export type UsageAt = (nowMs: number) => Usage & PeriodCalls;
