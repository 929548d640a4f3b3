import { labelOf } from '../../../shared/rules/license-fields.ts';
import type { LicenseTerms } from '../../../shared/rules/terms.ts';
import type { LicenseBody, LicenseChange } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';

type Change = LicenseChange['changes'][number];
type Metadata = LicenseBody['metadata'];

export const ACTION_LABELS: Record<LicenseChange['action'], string> = {
  created: 'Created',
  changed: 'Changed',
  suspended: 'Suspended',
  reinstated: 'Reinstated',
  revoked: 'Revoked',
  renewed: 'Renewed',
  key_rotated: 'Key replaced',
};

const quote = (value: unknown) => (typeof value === 'string' ? `“${value}”` : String(value));

const describeChange = (what: string, from: unknown, to: unknown): string => {
  if (from === null || from === undefined) return `${what} set to ${quote(to)}`;
  if (to === null || to === undefined) return `${what} removed, was ${quote(from)}`;
  return `${what} changed from ${quote(from)} to ${quote(to)}`;
};

const describeExpiry = (from: string | null, to: string | null): string => {
  if (from === null) return `Expiry set to ${formatDate(to ?? '')}`;
  if (to === null) return `Expiry removed, was ${formatDate(from)}`;
  return `Expiry changed from ${formatDate(from)} to ${formatDate(to)}`;
};

const describeMetadata = (from: Metadata, to: Metadata): string[] => {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const lines = names
    .filter((name) => from[name] !== to[name])
    .map((name) => describeChange(`Metadata ${name}`, from[name], to[name]));
  return lines.length > 0 ? lines : ['Metadata reordered'];
};

const describeTerms = (from: LicenseTerms, to: LicenseTerms): string[] => {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])] as (keyof LicenseTerms)[];
  const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : value);
  return names
    .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .map((name) => describeChange(`Term ${name}`, text(from[name]), text(to[name])));
};

const describe = ({ field, from, to }: Change): string[] => {
  // The entry's title already names the new status.
  if (field === 'status') return [];
  if (field === 'expires_at') return [describeExpiry(from as string | null, to as string | null)];
  if (field === 'metadata') return describeMetadata((from ?? {}) as Metadata, (to ?? {}) as Metadata);
  if (field === 'terms') return describeTerms((from ?? {}) as LicenseTerms, (to ?? {}) as LicenseTerms);
  return [describeChange(labelOf(field), from, to)];
};

/** Describes each change of a history entry in a sentence. */
export const describeChanges = ({ changes, reason }: LicenseChange): string[] => [
  ...changes.flatMap(describe),
  ...(reason === null ? [] : [`Reason: ${reason}`]),
];
