import { invalidField } from '../../data/error.ts';
import type { License } from '../../data/queries.ts';

export type Metadata = License['metadata'];
export type MetadataKind = 'text' | 'number' | 'boolean';

/** A line of the form; `id` only tells lines apart. */
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
  if (!Number.isFinite(number)) throw invalidField(fieldOf(id, 'value'), 'This is not a number');
  return number;
};

/** Lines that nothing was written in don't count. */
export const metadataOf = (rows: MetadataRow[]): Metadata => {
  const metadata = new Map<string, Metadata[string]>();
  for (const row of rows) {
    const name = row.name.trim();
    if (name === '' && (row.value.trim() === '' || row.kind === 'boolean')) continue;
    if (name === '') throw invalidField(fieldOf(row.id, 'name'), 'Give it a name');
    if (metadata.has(name)) throw invalidField(fieldOf(row.id, 'name'), 'This name is there twice');
    metadata.set(name, valueOf(row));
  }
  return Object.fromEntries(metadata);
};
