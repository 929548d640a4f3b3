import { plural } from '../../lib/format.ts';

export const LEASE_UNITS = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
export type LeaseUnit = keyof typeof LEASE_UNITS;

/** Splits a lease into a whole number of the largest unit that fits. */
export const splitLease = (seconds: number): { amount: number; unit: LeaseUnit } => {
  const units = Object.keys(LEASE_UNITS) as LeaseUnit[];
  const unit = units.find((name) => seconds % LEASE_UNITS[name] === 0) ?? 'seconds';
  return { amount: seconds / LEASE_UNITS[unit], unit };
};

export const formatLease = (seconds: number): string => {
  const { amount, unit } = splitLease(seconds);
  return plural(amount, unit.slice(0, -1));
};
