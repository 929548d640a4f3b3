import type { Billing } from '../../data/queries.ts';
import { formatCount, formatMoney } from '../../lib/format.ts';

export type PlanName = Billing['plan'];
export type PaidPlan = Exclude<PlanName, 'free'>;
export type Plan = Billing['plans'][number];
export type Subscription = NonNullable<Billing['subscription']>;

export const PLAN_NAMES: Record<PlanName, string> = { free: 'Free', pro: 'Pro', scale: 'Scale' };

export const planOf = ({ plans }: Billing, name: PlanName): Plan | undefined =>
  plans.find(({ plan }) => plan === name);

export const priceWords = ({ amount, currency }: Plan): string => `${formatMoney(amount, currency)} a month`;

export const limitWords = ({ api_limit, calls_per_second }: Plan): string =>
  `${formatCount(api_limit)} licensing calls a month, ${formatCount(calls_per_second)} a second for each API key`;
