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
  activated: Count;
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

/** Counts the distinct events with this name by license key or activation id. */
const countBy = (
  { events }: Inbox,
  name: string,
  property: 'licenseKey' | 'activationId' = 'licenseKey',
): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const event of events.values()) {
    const value = event[property];
    if (event.name === name && value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
};

/** An unacknowledged event of one license or activation does not make up for a lost event of another. */
const compare = (acknowledged: Map<string, number>, arrived: Map<string, number>): Count => ({
  acknowledged: sum(acknowledged.values()),
  arrived: sum([...acknowledged].map(([value, times]) => Math.min(times, arrived.get(value) ?? 0))),
});

const add = (a: Count, b: Count): Count => ({
  acknowledged: a.acknowledged + b.acknowledged,
  arrived: a.arrived + b.arrived,
});

export const tally = (parts: { acknowledged: Acknowledged; inbox: Inbox }[]): Tally => {
  let created: Count = { acknowledged: 0, arrived: 0 };
  let verified = created;
  let activated = created;
  for (const { acknowledged, inbox } of parts) {
    const once = (values: Iterable<string>) => new Map([...values].map((value) => [value, 1]));
    created = add(created, compare(once(acknowledged.created), countBy(inbox, 'license.created')));
    verified = add(verified, compare(acknowledged.verified, countBy(inbox, 'license.verified')));
    const arrivedIds = countBy(inbox, 'activation.created', 'activationId');
    activated = add(activated, compare(once(acknowledged.seats.activated), arrivedIds));
  }
  return { created, verified, activated };
};

export const countLost = (counts: Tally): number =>
  sum(Object.values(counts).map(({ acknowledged, arrived }: Count) => acknowledged - arrived));

/** A line of a table. */
export const row = (title: string, ...cells: (number | string)[]) =>
  title.padEnd(14) + cells.map((cell) => String(cell).padStart(20)).join('');

export const table = (counts: Tally): string => {
  const { created, verified, activated } = counts;
  const line = (title: string, valueOf: (count: Count) => number) =>
    row(
      title,
      ...[created, verified, activated].map(valueOf),
      sum([created, verified, activated].map(valueOf)),
    );
  return [
    row('', 'license.created', 'license.verified', 'activation.created', 'all'),
    line('acknowledged', ({ acknowledged }) => acknowledged),
    line('arrived', ({ arrived }) => arrived),
    line('lost', ({ acknowledged, arrived }) => acknowledged - arrived),
  ].join('\n');
};
