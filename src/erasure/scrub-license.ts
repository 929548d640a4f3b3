import type { LicenseRow, LicenseSnapshot, licenseChanges } from '../db/schema.ts';
import { byColumn, byField, columnOf, PERSONAL_FIELDS } from '../shared/rules/license-fields.ts';
import { ERASED_EMAIL, type Metadata } from '../shared/rules/licenses.ts';

/** Takes the place of a name in metadata. */
const ERASED_NAME = 'erased';

/** The columns that can name a customer. */
export const SCRUBBED_COLUMNS = ['customerEmail', 'metadata', ...PERSONAL_FIELDS.map(columnOf)] as const;
type License = Pick<LicenseRow, (typeof SCRUBBED_COLUMNS)[number]>;
export type HistoryRow = Pick<typeof licenseChanges.$inferSelect, 'seq' | 'at' | 'before' | 'after'>;

export interface Scrubbed {
  /** The license's fields without the customer. */
  license: License;
  /** The changed rows of the history. A row whose fields don't differ anymore is empty. */
  changes: HistoryRow[];
  /** When the license passed to another customer. Null if it is still this customer's, and 0 if it never was. */
  untilMs: number | null;
}

/** Goes back through the history. Returns the names and the like that the customer had, and until when the license was theirs. */
const readHistory = (license: License, history: HistoryRow[], isCustomer: (email: string) => boolean) => {
  const names = new Set<string>();
  let past = {
    customer_email: license.customerEmail,
    ...byField(PERSONAL_FIELDS, (field) => license[columnOf(field)]),
  };
  let untilMs = isCustomer(past.customer_email) ? null : 0;
  const noteNames = () => {
    if (!isCustomer(past.customer_email)) return;
    for (const field of PERSONAL_FIELDS) if (past[field] !== null) names.add(past[field]);
  };
  noteNames();
  for (const { at, before } of history.toReversed()) {
    past = { ...past, ...before };
    if (untilMs === 0 && isCustomer(past.customer_email)) untilMs = at;
    noteNames();
  }
  return { names, untilMs };
};

const without = <T extends object>(fields: T, names: Set<string>): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name))) as Partial<T>;

/**
 * Removes a customer from a license and from its history, oldest row first: their email address in any field, and the personal
 * fields that the license had while it was theirs. A license that passed to another customer keeps its present ones.
 */
export const scrubLicense = (license: License, history: HistoryRow[], email: string): Scrubbed => {
  const isCustomer = (text: string) => text.toLowerCase() === email;
  const { names, untilMs } = readHistory(license, history, isCustomer);
  // Another address may contain this one.
  const anyEmail = new RegExp(`(?<![\\w.+-])${RegExp.escape(email)}(?![\\w-]|\\.\\w)`, 'gi');

  const scrubMetadata = (metadata: Metadata): Metadata =>
    Object.fromEntries(
      Object.entries(metadata).map(([field, value]) => {
        if (typeof value !== 'string') return [field, value];
        return [field, names.has(value) ? ERASED_NAME : value.replaceAll(anyEmail, ERASED_EMAIL)];
      }),
    );

  const scrubSnapshot = (fields: Partial<LicenseSnapshot>): Partial<LicenseSnapshot> => {
    const { customer_email, metadata } = fields;
    const named = PERSONAL_FIELDS.filter((field) => names.has(fields[field] ?? ''));
    return {
      ...fields,
      ...(customer_email !== undefined && isCustomer(customer_email) && { customer_email: ERASED_EMAIL }),
      ...byField(named, () => null),
      ...(metadata && { metadata: scrubMetadata(metadata) }),
    };
  };

  /** A reason that was given while the license was theirs may be about them. */
  const scrubReason = ({ at, after: { reason } }: HistoryRow) => {
    const mayBeAboutThem = untilMs === null || at <= untilMs;
    return reason === undefined || mayBeAboutThem
      ? {}
      : { reason: reason.replaceAll(anyEmail, ERASED_EMAIL) };
  };

  const changes = history.flatMap((change) => {
    const before = scrubSnapshot(change.before);
    const { reason: _, ...fields } = change.after;
    const after = { ...scrubSnapshot(fields), ...scrubReason(change) };
    if (JSON.stringify([before, after]) === JSON.stringify([change.before, change.after])) return [];
    const isSame = (field: string) =>
      JSON.stringify(Reflect.get(before, field)) === JSON.stringify(Reflect.get(after, field));
    const same = new Set(Object.keys(after).filter(isSame));
    return [{ ...change, before: without(before, same), after: without(after, same) }];
  });
  const isTheirs = untilMs === null;
  return {
    license: {
      customerEmail: isTheirs ? ERASED_EMAIL : license.customerEmail,
      ...byColumn(PERSONAL_FIELDS, (field) => (isTheirs ? null : license[columnOf(field)])),
      metadata: scrubMetadata(license.metadata),
    },
    changes,
    untilMs,
  };
};
