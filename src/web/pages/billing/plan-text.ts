import type { Billing } from '../../data/queries.ts';
import { formatCount, formatMoney } from '../../lib/format.ts';

export type PlanName = Billing['plan'];
export type PaidPlan = Exclude<PlanName, 'free'>;
export type Plan = Billing['plans'][number];
export type Subscription = NonNullable<Billing['subscription']>;

export const PLAN_NAMES: Record<PlanName, string> = { free: 'Free', pro: 'Pro', scale: 'Scale' };

export const planOf = ({ plans }: Billing, name: PlanName): Plan | undefined =>
  plans.find(({ plan }) => plan === name);

export const priceText = ({ amount, currency }: Plan): string => `${formatMoney(amount, currency)} per month`;

export const limitText = ({ api_limit, license_limit, calls_per_second }: Plan): string =>
  `${formatCount(api_limit)} API calls per month, ${formatCount(license_limit)} licenses, and ${formatCount(calls_per_second)} calls per second per API key`;
