import { MAX_DURATION_DAYS } from '../../../shared/rules/licenses.ts';
import {
  DEFAULT_OFFLINE_DAYS,
  MAX_GRACE_DAYS,
  MAX_LEASE_SECONDS,
  MAX_OFFLINE_DAYS,
  MAX_SEATS,
  MIN_LEASE_SECONDS,
  TRANSFER_DAYS,
} from '../../../shared/rules/terms.ts';
import { invalidField } from '../../data/error.ts';
import type { Product } from '../../data/queries.ts';
import { formatCount, plural } from '../../lib/format.ts';
import { readValues, type Value, type ValueRow } from '../../ui/values.ts';
import { formatLease, LEASE_UNITS, type LeaseUnit } from './lease.ts';

// The terms of a product as a form edits them. The form's fields are named after their path in the API.

/** Null is the default of a term. */
export interface TermsDraft {
  max_activations: number | null;
  lease_seconds: number | null;
  offline_days: number | null;
  max_transfers: number | null;
  self_service: true | null;
  duration_days: number | null;
  updates_days: number | null;
  grace_days: number | null;
  entitlements: Record<string, Value> | null;
}

export const draftOf = ({ terms }: Product): TermsDraft => ({
  max_activations: terms.max_activations ?? null,
  lease_seconds: terms.lease_seconds ?? null,
  offline_days: terms.offline_days ?? null,
  max_transfers: terms.max_transfers ?? null,
  self_service: terms.self_service || null,
  duration_days: terms.duration_days ?? null,
  updates_days: terms.updates_days ?? null,
  grace_days: terms.grace_days ?? null,
  entitlements: terms.entitlements ?? null,
});

type Values = Record<string, string>;

/** Reads a whole number; null if the field is empty. */
export const readWhole = (values: Values, name: string, min: number, max: number): number | null => {
  const text = (values[name] ?? '').trim();
  if (text === '') return null;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw invalidField(name, `Enter a whole number from ${min} to ${formatCount(max)}`);
};

/** Reads the number and the unit of a `LeaseField`. */
export const readLease = (values: Values, name: string): number | null => {
  const amount = readWhole(values, name, 1, MAX_LEASE_SECONDS);
  if (amount === null) return null;
  const seconds = amount * LEASE_UNITS[values[`${name}.unit`] as LeaseUnit];
  if (seconds >= MIN_LEASE_SECONDS && seconds <= MAX_LEASE_SECONDS) return seconds;
  const range = `${formatLease(MIN_LEASE_SECONDS)} to ${formatLease(MAX_LEASE_SECONDS)}`;
  throw invalidField(name, `Enter a time from ${range}`);
};

const readEntitlements = (rows: ValueRow[]): TermsDraft['entitlements'] => {
  const entitlements = readValues('terms.entitlements', rows);
  return Object.keys(entitlements).length > 0 ? entitlements : null;
};

export const readTerms = (values: Values, rows: ValueRow[]): TermsDraft => ({
  max_activations: readWhole(values, 'terms.max_activations', 1, MAX_SEATS),
  lease_seconds: readLease(values, 'terms.lease_seconds'),
  offline_days: readWhole(values, 'terms.offline_days', 0, MAX_OFFLINE_DAYS),
  max_transfers: readWhole(values, 'terms.max_transfers', 0, MAX_SEATS),
  self_service: 'terms.self_service' in values ? true : null,
  duration_days: readWhole(values, 'terms.duration_days', 1, MAX_DURATION_DAYS),
  updates_days: readWhole(values, 'terms.updates_days', 1, MAX_DURATION_DAYS),
  grace_days: readWhole(values, 'terms.grace_days', 0, MAX_GRACE_DAYS),
  entitlements: readEntitlements(rows),
});

/** Reads a form that is being edited; null while a field is incomplete. `values` is null before the first change. */
export const readDraft = (saved: TermsDraft, values: Values | null, rows: ValueRow[]): TermsDraft | null => {
  try {
    return values ? readTerms(values, rows) : { ...saved, entitlements: readEntitlements(rows) };
  } catch {
    return null;
  }
};

/** Describes the main terms in a few words each, for lists. */
export const summarize = ({
  max_activations,
  lease_seconds,
  offline_days,
  ...terms
}: TermsDraft): string[] => [
  max_activations === null ? 'Any number of machines' : plural(max_activations, 'seat'),
  ...(max_activations !== null && lease_seconds !== null ? [`floating, ${formatLease(lease_seconds)}`] : []),
  `${plural(offline_days ?? DEFAULT_OFFLINE_DAYS, 'day')} offline`,
  ...(terms.entitlements ? [plural(Object.keys(terms.entitlements).length, 'entitlement')] : []),
];

/** Explains each term in a few plain words, for the hints of forms. */
export const TERM_HINTS = {
  max_activations: 'Machines that may use a license at the same time.',
  lease_seconds:
    'A machine’s seat is free again this long after the application’s last call. Without it, a machine keeps its seat until the seat is released.',
  offline_days: 'How long an application may run without contact with the service.',
  max_transfers: `How many more machines than seats may take a seat within ${TRANSFER_DAYS} days.`,
  self_service:
    'An application that finds no free seat is told which machines hold the seats, and may replace one of them.',
  duration_days: 'How long a new license lasts, unless you choose an expiry date.',
  updates_days: 'How long after its creation a new license covers new versions.',
  grace_days: 'How long a license stays valid after its last day, in case a renewal comes late.',
  entitlements: 'Features and limits that the application reads, such as export: true.',
} satisfies Record<keyof TermsDraft, string>;
