import type { Region } from '../../src/shared/rules/regions.ts';
// Compares the acknowledged calls with the figures of the service and with the events that arrived.
import { type Customer, expectOk, listPending } from '../crash/customer.ts';
import type { Service } from '../e2e/support/service.ts';
import type { Acknowledged } from './soak-load.ts';

export interface Part {
  customer: Customer;
  acknowledged: Acknowledged;
  /** The regions of its callers. */
  callers: readonly Region[];
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

/** Counts the licenses whose number of events differs from the number of acknowledged calls. */
const countMismatches = (acknowledged: Map<string, number>, events: Map<string, number>): number =>
  [...new Set([...acknowledged.keys(), ...events.keys()])].filter(
    (license) => (acknowledged.get(license) ?? 0) !== (events.get(license) ?? 0),
  ).length;

/** The payment for the plan sends an event too, if it is forwarded after the webhook was added. */
const countLicenseEvents = ({ inbox }: Customer): number =>
  [...inbox.events.values()].filter(({ name }) => name.startsWith('license.')).length;

const eventsOf = ({ created, verified }: Acknowledged) => created.length + sum(verified.values());

export const isSettled = ({ customer, acknowledged }: Part) =>
  countLicenseEvents(customer) >= eventsOf(acknowledged);

export const audit = async (service: Service, { customer, acknowledged, callers }: Part) => {
  const dashboard = expectOk(await service.get('/api/dashboard', customer.session)) as Dashboard;
  const { inbox } = customer;
  const createdOnce = new Map(acknowledged.created.map((licenseKey) => [licenseKey, 1]));
  const checks: [what: string, actual: number, expected: number][] = [
    ['calls in api_usage, of acknowledged calls', dashboard.usage.api_usage, acknowledged.counted],
    [
      'calls in usage_by_day, of acknowledged calls',
      sum(dashboard.usage_by_day.map(({ verify, create }) => verify + create)),
      acknowledged.counted,
    ],
    ['licenses, of created licenses', dashboard.licenses.total, acknowledged.created.length],
    ['API keys left after the deletions', dashboard.api_keys.total, 1],
    ['events arrived, of acknowledged calls', countLicenseEvents(customer), eventsOf(acknowledged)],
    [
      'licenses with missing or extra license.created',
      countMismatches(createdOnce, arrived(customer, 'license.created')),
      0,
    ],
    [
      'licenses with missing or extra license.verified',
      countMismatches(acknowledged.verified, arrived(customer, 'license.verified')),
      0,
    ],
    [
      'delivered attempts, of received requests',
      dashboard.webhooks.delivered_24h,
      inbox.events.size + inbox.duplicates.length,
    ],
    [
      'failed attempts, of rejected requests',
      dashboard.webhooks.failed_24h,
      inbox.failed.size + inbox.badSignatures,
    ],
    ['pending deliveries', (await listPending(service, customer)).length, 0],
    ['bad signatures', inbox.badSignatures, 0],
    ['unexpected responses', acknowledged.unexpected.length, 0],
  ];
  const lines = checks.map(
    ([what, actual, expected]) =>
      `${actual === expected ? '✓' : '✗'} ${what.padEnd(48)}${actual} of ${expected}`,
  );
  return {
    agrees:
      checks.every(([, actual, expected]) => actual === expected) &&
      callers.length > 1 === acknowledged.inBranches > 0,
    lines: [
      `${customer.accountId}: ${acknowledged.keys} API keys created and deleted, ${inbox.duplicates.length} duplicate requests`,
      `  callers in ${callers.join(', ')}; branches answered ${acknowledged.inBranches} verifies`,
      ...lines,
      ...acknowledged.unexpected.slice(0, 3),
    ],
  };
};
