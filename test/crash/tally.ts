// Compares the acknowledged events with those that arrived.
import type { Acknowledged } from './load.ts';
import type { Inbox } from './receiver.ts';

export interface Count {
  acknowledged: number;
  arrived: number;
}

export interface Tally {
  created: Count;
  verified: Count;
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

/** Counts the distinct events with this name by license key. */
const byLicense = ({ events }: Inbox, name: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const event of events.values()) {
    if (event.name === name) counts.set(event.licenseKey, (counts.get(event.licenseKey) ?? 0) + 1);
  }
  return counts;
};

/** An unacknowledged event of one license does not make up for a lost event of another. */
const compare = (acknowledged: Map<string, number>, arrived: Map<string, number>): Count => ({
  acknowledged: sum(acknowledged.values()),
  arrived: sum([...acknowledged].map(([licenseKey, times]) => Math.min(times, arrived.get(licenseKey) ?? 0))),
});

const add = (a: Count, b: Count): Count => ({
  acknowledged: a.acknowledged + b.acknowledged,
  arrived: a.arrived + b.arrived,
});

export const tally = (parts: { acknowledged: Acknowledged; inbox: Inbox }[]): Tally => {
  let created: Count = { acknowledged: 0, arrived: 0 };
  let verified = created;
  for (const { acknowledged, inbox } of parts) {
    const once = new Map(acknowledged.created.map((licenseKey) => [licenseKey, 1]));
    created = add(created, compare(once, byLicense(inbox, 'license.created')));
    verified = add(verified, compare(acknowledged.verified, byLicense(inbox, 'license.verified')));
  }
  return { created, verified };
};

export const countLost = ({ created, verified }: Tally): number =>
  created.acknowledged - created.arrived + (verified.acknowledged - verified.arrived);

const row = (title: string, ...cells: (number | string)[]) =>
  title.padEnd(14) + cells.map((cell) => String(cell).padStart(20)).join('');

export const table = (counts: Tally): string => {
  const { created, verified } = counts;
  const line = (title: string, valueOf: (count: Count) => number) =>
    row(title, valueOf(created), valueOf(verified), valueOf(created) + valueOf(verified));
  return [
    row('', 'license.created', 'license.verified', 'both'),
    line('acknowledged', ({ acknowledged }) => acknowledged),
    line('arrived', ({ arrived }) => arrived),
    line('lost', ({ acknowledged, arrived }) => acknowledged - arrived),
  ].join('\n');
};
