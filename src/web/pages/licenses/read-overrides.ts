import { MAX_OFFLINE_DAYS, MAX_SEATS, NO_LIMIT } from '../../../shared/rules/terms.ts';
import { invalidField } from '../../data/error.ts';
import { readOverrides, type ValueRow } from '../../ui/values.ts';
import { readLease, readWhole } from '../products/terms.ts';
import type { Term } from './terms-text.ts';

/** How a license treats a term: it inherits it, has its own value, or lifts the product's limit. */
export type Mode = 'inherit' | 'own' | typeof NO_LIMIT;

type Values = Record<string, string>;

export const fieldOfTerm = (term: Term) => `terms.${term}`;
export const modeField = (term: Term) => `mode.${term}`;

/** Reads the term's own value if the form chose one. Null inherits the term. */
const readOwn = (values: Values, term: Term, read: (name: string) => number | null): number | null => {
  if (values[modeField(term)] !== 'own') return null;
  const name = fieldOfTerm(term);
  const value = read(name);
  if (value === null) throw invalidField(name, 'Enter a number');
  return value;
};

const readLiftable = (
  values: Values,
  term: Term,
  read: (name: string) => number | null,
): number | typeof NO_LIMIT | null =>
  values[modeField(term)] === NO_LIMIT ? NO_LIMIT : readOwn(values, term, read);

const whole = (values: Values, min: number, max: number) => (name: string) =>
  readWhole(values, name, min, max);

const SELF_SERVICE: Record<string, boolean> = { yes: true, no: false };

/** Reads the form of a license's terms as a PATCH. */
export const readTermsPatch = (values: Values, rows: ValueRow[]) => {
  const entitlements = readOverrides('terms.entitlements', rows);
  return {
    terms: {
      max_activations: readLiftable(values, 'max_activations', whole(values, 1, MAX_SEATS)),
      lease_seconds: readLiftable(values, 'lease_seconds', (name) => readLease(values, name)),
      offline_days: readOwn(values, 'offline_days', whole(values, 0, MAX_OFFLINE_DAYS)),
      max_transfers: readLiftable(values, 'max_transfers', whole(values, 0, MAX_SEATS)),
      self_service: SELF_SERVICE[values[modeField('self_service')] ?? ''] ?? null,
      entitlements: Object.keys(entitlements).length > 0 ? entitlements : null,
    },
    updates_until: values['updates_until'] || null,
  };
};
