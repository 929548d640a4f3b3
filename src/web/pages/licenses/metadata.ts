import { invalidField } from '../../data/error.ts';
import type { License } from '../../data/queries.ts';

export type Metadata = License['metadata'];
export type MetadataKind = 'text' | 'number' | 'boolean';

/** A row of the form. The id is only the row's React key. */
export interface MetadataRow {
  id: number;
  name: string;
  kind: MetadataKind;
  value: string;
}

const kindOf = (value: Metadata[string]): MetadataKind => {
  if (typeof value === 'string') return 'text';
  return typeof value === 'number' ? 'number' : 'boolean';
};

export const rowsOf = (metadata: Metadata): MetadataRow[] =>
  Object.entries(metadata).map(([name, value], id) => ({ id, name, kind: kindOf(value), value: `${value}` }));

export const nextId = (rows: MetadataRow[]): number => Math.max(-1, ...rows.map(({ id }) => id)) + 1;

export const fieldOf = (id: number, part: 'name' | 'value') => `metadata.${id}.${part}`;

const valueOf = ({ id, kind, value }: MetadataRow): Metadata[string] => {
  if (kind === 'text') return value;
  if (kind === 'boolean') return value === 'true';
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) throw invalidField(fieldOf(id, 'value'), 'Enter a number');
  return number;
};

/** Reads the rows and skips empty ones. */
export const metadataOf = (rows: MetadataRow[]): Metadata => {
  const metadata = new Map<string, Metadata[string]>();
  for (const row of rows) {
    const name = row.name.trim();
    if (name === '' && (row.value.trim() === '' || row.kind === 'boolean')) continue;
    if (name === '') throw invalidField(fieldOf(row.id, 'name'), 'Enter a name');
    if (metadata.has(name)) throw invalidField(fieldOf(row.id, 'name'), 'Another row has this name');
    metadata.set(name, valueOf(row));
  }
  return Object.fromEntries(metadata);
};
