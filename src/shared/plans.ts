export interface Plan {
  /** Licensing calls per period. */
  apiLimit: number;
  /** Calls per second of one key; a burst may spend two seconds' worth at once. */
  callsPerSecond: number;
  /** Per month, in minor units. */
  amount: number;
}

export const PLAN_NAMES = ['free', 'pro', 'scale'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export const PLANS: Record<PlanName, Plan> = {
  free: { apiLimit: 1_000, callsPerSecond: 10, amount: 0 },
  pro: { apiLimit: 100_000, callsPerSecond: 100, amount: 29_00 },
  scale: { apiLimit: 5_000_000, callsPerSecond: 1_000, amount: 199_00 },
};
