// What an account was told against what the service says and what arrived.
import { type Customer, countPending, expectOk } from '../crash/customer.ts';
import type { Service } from '../e2e/support/service.ts';
import type { Told } from './soak-load.ts';

export interface Part {
  customer: Customer;
  told: Told;
}

interface Dashboard {
  usage: { api_usage: number };
  usage_by_day: { verify: number; create: number }[];
  licenses: { total: number };
  api_keys: { total: number };
  webhooks: { delivered_24h: number; failed_24h: number };
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

const arrived = ({ inbox }: Customer, name: string): Map<string, number> => {
  const byLicense = new Map<string, number>();
  for (const event of inbox.events.values()) {
    if (event.name === name) byLicense.set(event.licenseKey, (byLicense.get(event.licenseKey) ?? 0) + 1);
  }
  return byLicense;
};

/** Licenses whose events are not as many as the calls that were answered. */
const disagreeing = (told: Map<string, number>, events: Map<string, number>): number =>
  [...new Set([...told.keys(), ...events.keys()])].filter(
    (license) => (told.get(license) ?? 0) !== (events.get(license) ?? 0),
  ).length;

const eventsOf = ({ created, verified }: Told) => created.length + sum(verified.values());

export const isSettled = ({ customer, told }: Part) => customer.inbox.events.size >= eventsOf(told);

export const audit = async (service: Service, { customer, told }: Part) => {
  const dashboard = expectOk(await service.get('/api/dashboard', customer.session)) as Dashboard;
  const { inbox } = customer;
  const createdOnce = new Map(told.created.map((licenseKey) => [licenseKey, 1]));
  const checks: [what: string, is: number, mustBe: number][] = [
    ['calls in api_usage, as answered', dashboard.usage.api_usage, told.counted],
    [
      'calls in usage_by_day, as answered',
      sum(dashboard.usage_by_day.map(({ verify, create }) => verify + create)),
      told.counted,
    ],
    ['licenses, as created', dashboard.licenses.total, told.created.length],
    ['API keys left of those that came and went', dashboard.api_keys.total, 1],
    ['events arrived, as calls were answered', inbox.events.size, eventsOf(told)],
    [
      'licenses whose license.created disagrees',
      disagreeing(createdOnce, arrived(customer, 'license.created')),
      0,
    ],
    [
      'licenses whose license.verified disagrees',
      disagreeing(told.verified, arrived(customer, 'license.verified')),
      0,
    ],
    [
      'attempts delivered, as the receiver took them',
      dashboard.webhooks.delivered_24h,
      inbox.events.size + inbox.duplicated,
    ],
    [
      'attempts failed, as the receiver refused them',
      dashboard.webhooks.failed_24h,
      inbox.failed.size + inbox.badSignatures,
    ],
    ['deliveries not settled', await countPending(service, customer), 0],
    ['bad signatures', inbox.badSignatures, 0],
    ['answers that nobody wanted', told.unexpected.length, 0],
  ];
  const lines = checks.map(
    ([what, is, mustBe]) => `${is === mustBe ? '✓' : '✗'} ${what.padEnd(48)}${is} of ${mustBe}`,
  );
  return {
    agrees: checks.every(([, is, mustBe]) => is === mustBe),
    lines: [
      `${customer.accountId}: ${told.keys} keys came and went, ${inbox.duplicated} posts arrived twice`,
      ...lines,
      ...told.unexpected.slice(0, 3),
    ],
  };
};
