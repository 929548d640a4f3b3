import { invalidField } from '../data/error.ts';

// A flat map of names and values, such as metadata or entitlements, as rows of a form.

export type Value = string | number | boolean;
/** `removed` stands for null: a license's entitlement that takes its product's away. */
export type ValueKind = 'text' | 'number' | 'boolean' | 'removed';

/** A row of the form. The id is only the row's React key. */
export interface ValueRow {
  id: number;
  name: string;
  kind: ValueKind;
  value: string;
}

const kindOf = (value: Value | null): ValueKind => {
  if (value === null) return 'removed';
  if (typeof value === 'string') return 'text';
  return typeof value === 'number' ? 'number' : 'boolean';
};

export const rowsOf = (values: Record<string, Value | null>): ValueRow[] =>
  Object.entries(values).map(([name, value], id) => ({
    id,
    name,
    kind: kindOf(value),
    value: value === null ? '' : `${value}`,
  }));

export const nextId = (rows: ValueRow[]): number => Math.max(-1, ...rows.map(({ id }) => id)) + 1;

export const fieldOf = (map: string, id: number, part: 'name' | 'kind' | 'value') => `${map}.${id}.${part}`;

const valueOf = (map: string, { id, kind, value }: ValueRow): Value | null => {
  if (kind === 'removed') return null;
  if (kind === 'text') return value;
  // The select shows true for any other text, such as the one that a restored draft still has.
  if (kind === 'boolean') return value !== 'false';
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) throw invalidField(fieldOf(map, id, 'value'), 'Enter a number');
  return number;
};

/** Reads the rows of a map's field and skips empty rows. */
export const readOverrides = (map: string, rows: ValueRow[]): Record<string, Value | null> => {
  const values = new Map<string, Value | null>();
  for (const row of rows) {
    const name = row.name.trim();
    const hasText = (row.kind === 'text' || row.kind === 'number') && row.value.trim() !== '';
    if (name === '' && !hasText) continue;
    if (name === '') throw invalidField(fieldOf(map, row.id, 'name'), 'Enter a name');
    if (values.has(name)) throw invalidField(fieldOf(map, row.id, 'name'), 'Another row has this name');
    values.set(name, valueOf(map, row));
  }
  return Object.fromEntries(values);
};

/** Reads rows of which none is `removed`. */
export const readValues = (map: string, rows: ValueRow[]): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(readOverrides(map, rows)).filter((entry): entry is [string, Value] => entry[1] !== null),
  );
