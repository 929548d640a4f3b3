import { getTableColumns } from 'drizzle-orm';
import { licenses, type LicenseRow, type LicenseSnapshot, type licenseChanges } from '../db/schema.ts';
import { byField, CHANGEABLE_FIELDS, columnOf, PERSONAL_FIELDS } from '../shared/rules/license-fields.ts';
import { ERASED_EMAIL } from '../shared/rules/licenses.ts';
import { NO_LIMIT } from '../shared/rules/terms.ts';
import { openScrubber, type Person } from '../shared/text/scrub.ts';

/** Ids, keys, states, and days name nobody, and have to stay as they are. All other columns are looked through. */
const KEPT_COLUMNS = [
  'seq',
  'id',
  'accountId',
  'licenseKey',
  'status',
  'expiresAt',
  'updatesUntil',
  'createdAt',
  'updatedAt',
  'importId',
] as const satisfies (keyof LicenseRow)[];

const isKept = (column: string): column is (typeof KEPT_COLUMNS)[number] =>
  KEPT_COLUMNS.some((kept) => kept === column);

type ScrubbedColumn = Exclude<keyof LicenseRow, (typeof KEPT_COLUMNS)[number]>;
export const SCRUBBED_COLUMNS = Object.keys(getTableColumns(licenses)).filter(
  (column): column is ScrubbedColumn => !isKept(column),
);
export type ScrubbedFields = Pick<LicenseRow, ScrubbedColumn>;

const isKeptField = (field: string) =>
  ['by', 'import_id'].includes(field) ||
  CHANGEABLE_FIELDS.some((own) => own === field && isKept(columnOf(own)));

export type HistoryRow = Pick<typeof licenseChanges.$inferSelect, 'seq' | 'at' | 'before' | 'after'>;

export interface Scrubbed {
  /** The license's fields without the customer. */
  license: ScrubbedFields;
  /** The changed rows of the history. A row whose fields don't differ anymore is empty. */
  changes: HistoryRow[];
  /** Whether the license, or its history, has named the customer. */
  isChanged: boolean;
  /** The names that the customer had, and that its texts are without. */
  names: readonly string[];
  /** When the license passed to another customer. Null if it is still this customer's, and 0 if it never was. */
  untilMs: number | null;
}

/** Goes back through the history. Returns the names that the customer had, and until when the license was theirs. */
const readHistory = (
  license: ScrubbedFields,
  history: HistoryRow[],
  isCustomer: (email: string) => boolean,
) => {
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
 * Removes a customer from all texts of a license and of its history, oldest row first. A license that passed to another customer
 * keeps the present ones. `shared` are texts of the account's products, which are about no customer.
 */
export const scrubLicense = (
  license: ScrubbedFields,
  history: HistoryRow[],
  { email, names: otherNames }: Person,
  shared: ReadonlySet<string> = new Set(),
): Scrubbed => {
  const isCustomer = (text: string) => text.toLowerCase() === email;
  const { names: ownNames, untilMs } = readHistory(license, history, isCustomer);
  const isTheirs = untilMs === null;
  const presentNames = isTheirs ? [] : PERSONAL_FIELDS.map((field) => license[columnOf(field)]);
  const names = [...new Set([...ownNames, ...otherNames])].filter((name) => !presentNames.includes(name));
  const { scrub, withoutAddress } = openScrubber({ email, names }, new Set([...shared, NO_LIMIT]));

  const scrubPersonal = (text: string | null) => text && withoutAddress(text);
  /** The first level of the terms has names of ours. */
  const scrubTerms = (terms: LicenseSnapshot['terms']) =>
    Object.fromEntries(Object.entries(terms).map(([term, value]) => [term, scrub(value)]));

  const scrubSnapshot = (fields: Partial<LicenseSnapshot>): Partial<LicenseSnapshot> => {
    const { customer_email: address, terms } = fields;
    const named = PERSONAL_FIELDS.filter((field) => fields[field] !== undefined);
    const others = Object.entries(fields).filter(([field]) => !isKeptField(field));
    return {
      ...fields,
      ...Object.fromEntries(others.map(([field, value]) => [field, scrub(value)])),
      ...byField(named, (field) =>
        ownNames.has(fields[field] ?? '') ? null : scrubPersonal(fields[field] ?? null),
      ),
      ...(address !== undefined && { customer_email: isCustomer(address) ? ERASED_EMAIL : address }),
      ...(terms && { terms: scrubTerms(terms) }),
    };
  };

  /** A reason that was given while the license was theirs may be about them. */
  const scrubReason = ({ at, after: { reason } }: HistoryRow) => {
    const mayBeAboutThem = isTheirs || at <= untilMs;
    return reason === undefined || mayBeAboutThem ? {} : { reason: scrub(reason) };
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

  const scrubColumn = (column: ScrubbedColumn) => {
    if (column === 'customerEmail') return isTheirs ? ERASED_EMAIL : license.customerEmail;
    if (column === 'terms') return scrubTerms(license.terms);
    const isPersonal = PERSONAL_FIELDS.some((field) => columnOf(field) === column);
    const value = license[column];
    if (!isPersonal) return scrub(value);
    return isTheirs ? null : scrubPersonal(value as string | null);
  };
  const scrubbed = Object.fromEntries(
    SCRUBBED_COLUMNS.map((column) => [column, scrubColumn(column)]),
  ) as unknown as ScrubbedFields;
  const isSame = SCRUBBED_COLUMNS.every(
    (column) => JSON.stringify(scrubbed[column]) === JSON.stringify(license[column]),
  );
  return {
    license: scrubbed,
    changes,
    isChanged: untilMs !== 0 || changes.length > 0 || !isSame,
    names,
    untilMs,
  };
};
