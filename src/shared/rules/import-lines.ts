import { fromCell } from './csv.ts';
import { parseCell } from './license-csv.ts';
import { JSON_FIELDS } from './license-fields.ts';

// Reads the records of a file to import. The service, the dashboard and the CLI read them in the same way.

export type ImportFormat = 'csv' | 'ndjson';

/** The fields of a line, by name. */
export type Fields = Record<string, unknown>;

/** A record's fields, or why it can't be read. */
export type ReadFields = { value: Fields } | { problem: string };

const METADATA_PREFIX = 'metadata.';

/** Whether the name is a column that holds one entry of the metadata. */
export const isMetadataColumn = (name: string) =>
  name.startsWith(METADATA_PREFIX) && name.length > METADATA_PREFIX.length;

/** An empty cell is an absent field. */
const toFields = (columns: string[], cells: string[]): Fields => {
  const fields: Fields = {};
  const metadata: [string, string][] = [];
  for (const [i, column] of columns.entries()) {
    const cell = cells[i] ?? '';
    if (cell.trim() === '') continue;
    if (isMetadataColumn(column)) metadata.push([column.slice(METADATA_PREFIX.length), fromCell(cell)]);
    else fields[column] = parseCell(column, cell.trim());
  }
  if (metadata.length === 0) return fields;
  return {
    ...fields,
    metadata: { ...(fields['metadata'] as object | undefined), ...Object.fromEntries(metadata) },
  };
};

/** Reads the cells of a CSV record. */
export const readFields = (columns: string[], cells: string[], isUnfinished = false): ReadFields => {
  if (isUnfinished) return { problem: 'The line has a quote that isn’t closed.' };
  if (cells.length > columns.length) return { problem: 'The line has more fields than the header.' };
  try {
    return { value: toFields(columns, cells) };
  } catch {
    return { problem: `The columns ${JSON_FIELDS.join(' and ')} must contain JSON.` };
  }
};

/** Returns a field as the service compares it: it ignores the case of email addresses, and the spaces around texts. */
const compared = (name: string, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  return name === 'customer_email' ? value.trim().toLowerCase() : value.trim();
};

/**
 * Numbers equal lines without a license key over all parts of a file. The service can only number the lines of one request.
 * Returns the number of a line, or undefined if it needs none.
 */
export const openCopies = () => {
  const copies = new Map<string, number>();
  return (fields: Fields): number | undefined => {
    const isLicense = (fields['type'] ?? 'license') === 'license';
    if (!isLicense || fields['license_key'] !== undefined || fields['copy'] !== undefined) return undefined;
    const named = Object.entries(fields).map(([name, value]) => [name, compared(name, value)] as const);
    const content = JSON.stringify(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const copy = (copies.get(content) ?? 0) + 1;
    copies.set(content, copy);
    return copy;
  };
};

/**
 * A part of a dry run doesn't know the licenses that earlier parts of the file would create. Returns whether a line fails only
 * because its license is one of them.
 */
export const openDryRun = () => {
  const created = new Set<unknown>();
  return (fields: Fields, { result, error }: { result: string; error?: { code: string } | undefined }) => {
    const licenseKey = fields['license_key'];
    if (result === 'created' && (fields['type'] ?? 'license') === 'license') created.add(licenseKey);
    return error?.code === 'license_not_found' && created.has(licenseKey);
  };
};
