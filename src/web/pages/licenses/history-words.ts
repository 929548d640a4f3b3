import type { LicenseChange } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import type { Metadata } from './metadata.ts';

type Change = LicenseChange['changes'][number];

export const ACTION_WORDS: Record<LicenseChange['action'], string> = {
  created: 'Created',
  changed: 'Changed',
  suspended: 'Suspended',
  reinstated: 'Reinstated',
  revoked: 'Revoked',
  renewed: 'Renewed',
};

const FIELD_WORDS: Record<Exclude<Change['field'], 'status' | 'expires_at' | 'metadata'>, string> = {
  product: 'Product',
  customer_email: 'Customer e-mail',
  customer_name: 'Customer name',
};

const quote = (value: unknown) => (typeof value === 'string' ? `“${value}”` : String(value));

const moved = (what: string, from: unknown, to: unknown): string => {
  if (from === null || from === undefined) return `${what} set to ${quote(to)}`;
  if (to === null || to === undefined) return `${what} removed, was ${quote(from)}`;
  return `${what} changed from ${quote(from)} to ${quote(to)}`;
};

const expiryMoved = (from: string | null, to: string | null): string => {
  if (from === null) return `Expiry set to ${formatDate(to ?? '')}`;
  if (to === null) return `Expiry removed, was ${formatDate(from)}`;
  return `Expiry moved from ${formatDate(from)} to ${formatDate(to)}`;
};

const metadataMoved = (from: Metadata, to: Metadata): string[] => {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const lines = names
    .filter((name) => from[name] !== to[name])
    .map((name) => moved(`Metadata ${name}`, from[name], to[name]));
  return lines.length > 0 ? lines : ['Metadata put in another order'];
};

const wordsOf = ({ field, from, to }: Change): string[] => {
  // The entry's own name says that.
  if (field === 'status') return [];
  if (field === 'expires_at') return [expiryMoved(from as string | null, to as string | null)];
  if (field === 'metadata') return metadataMoved((from ?? {}) as Metadata, (to ?? {}) as Metadata);
  return [moved(FIELD_WORDS[field], from, to)];
};

/** What was different after it, a sentence each. */
export const changeWords = ({ changes }: LicenseChange): string[] => changes.flatMap(wordsOf);
