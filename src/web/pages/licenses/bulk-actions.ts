import { CSV_COLUMNS, toCsvCells } from '../../../shared/rules/license-csv.ts';
import { canChangeExpiry, nextStatus, type Transition } from '../../../shared/rules/licenses.ts';
import { api, call } from '../../data/client.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { plural } from '../../lib/format.ts';

// What can be done with many licenses at once.

export type BulkAction = Transition | 'extend';

/** The new expiry of extended licenses. */
export type NewExpiry = { duration_days: number } | { expires_at: string | null };

interface ActionText {
  verb: string;
  done: string;
  consequence: string;
  /** Why the action leaves some licenses as they are. */
  skipped: string;
}

export const ACTION_TEXTS: Record<BulkAction, ActionText> = {
  suspend: {
    verb: 'Suspend',
    done: 'suspended',
    consequence: 'Verify calls return that they aren’t valid. You can reinstate them at any time.',
    skipped: 'suspended, expired or revoked',
  },
  reinstate: {
    verb: 'Reinstate',
    done: 'reinstated',
    consequence: 'They are valid again, unless they have expired.',
    skipped: 'not suspended',
  },
  revoke: {
    verb: 'Revoke',
    done: 'revoked',
    consequence:
      'Verify calls return that they aren’t valid. Revoked licenses can’t be reinstated or extended.',
    skipped: 'already revoked',
  },
  extend: {
    verb: 'Extend',
    done: 'extended',
    consequence: '',
    skipped: 'revoked, or without an expiry date',
  },
};

/** Whether an action changes a license. The same rules decide which buttons a license's own page has. */
export const isApplicable = (action: BulkAction, { status, expires_at }: LicenseBody): boolean => {
  if (action === 'extend') return canChangeExpiry(status) && expires_at !== null;
  if (action === 'suspend' && status === 'expired') return false;
  return nextStatus(status === 'expired' ? 'active' : status, action) !== null;
};

export const sendAction = (
  action: BulkAction,
  { id }: LicenseBody,
  expiry: NewExpiry | null,
): Promise<LicenseBody> => {
  const param = { id };
  const licenseApi = api.v1.licenses[':id'];
  if (action === 'extend') return call(licenseApi.renew.$post({ param, json: expiry ?? {} }));
  return call(licenseApi[action].$post({ param, json: {} }));
};

export const licensesText = (count: number): string => plural(count, 'license');

/** Returns the rows of a CSV file, with its header. */
export const toCsvRows = (licenses: LicenseBody[]): string[][] => [
  [...CSV_COLUMNS],
  ...licenses.map(toCsvCells),
];
