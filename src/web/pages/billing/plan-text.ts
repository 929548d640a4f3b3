import { formatMoney } from '../../../shared/rules/money.ts';
import type { PlanName } from '../../../shared/rules/plans.ts';
import type { Billing } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';

export type OfferedPlan = Billing['plans'][number];
export type Subscription = NonNullable<Billing['subscription']>;

export const PLAN_TITLES: Record<PlanName, string> = { free: 'Free', pro: 'Pro', scale: 'Scale' };

export const planOf = ({ plans }: Billing, name: PlanName): OfferedPlan | undefined =>
  plans.find(({ plan }) => plan === name);

export const priceText = ({ amount, currency }: OfferedPlan): string =>
  `${formatMoney(amount, currency)} per month`;

export const limitText = ({ api_limit, license_limit, calls_per_second }: OfferedPlan): string =>
  `${formatCount(api_limit)} API calls per month, ${formatCount(license_limit)} licenses, and ${formatCount(calls_per_second)} calls per second per API key`;
