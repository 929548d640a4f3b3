import { canChangeExpiry, nextStatus, type Transition } from '../../../shared/rules/licenses.ts';
import { api, call } from '../../data/client.ts';
import { sendRenewal, withReason } from '../../data/license-mutations.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { plural } from '../../lib/format.ts';

// What can be done with many licenses at once.

export type BulkAction = Transition | 'extend' | 'product';

/** What the licenses get, and why they are suspended, reinstated, or revoked. */
export interface NewValue {
  expiry?: { duration_days: number } | { expires_at: string | null };
  product?: string | null;
  reason?: string;
  /** Names the extension: sending it again never extends a license twice. */
  extension?: string;
}

interface ActionText {
  verb: string;
  /** The verb and its object, for the button that confirms. */
  confirm: (licenses: string) => string;
  done: string;
  consequence: string;
  /** Why the action leaves some licenses as they are. */
  skipped: string;
}

const verbOf = (verb: string) => ({ verb, confirm: (licenses: string) => `${verb} ${licenses}` });

export const ACTION_TEXTS: Record<BulkAction, ActionText> = {
  suspend: {
    ...verbOf('Suspend'),
    done: 'suspended',
    consequence: 'Verify calls report that they aren’t valid. You can reinstate them at any time.',
    skipped: 'suspended, expired, or revoked',
  },
  reinstate: {
    ...verbOf('Reinstate'),
    done: 'reinstated',
    consequence: 'They are valid again, unless they have expired.',
    skipped: 'not suspended',
  },
  revoke: {
    ...verbOf('Revoke'),
    done: 'revoked',
    consequence:
      'Verify calls report that they aren’t valid. Revoked licenses can’t be reinstated or extended.',
    skipped: 'already revoked',
  },
  extend: {
    ...verbOf('Extend'),
    done: 'extended',
    consequence: '',
    skipped: 'revoked, or without an expiry date',
  },
  product: {
    verb: 'Set product',
    confirm: (licenses) => `Set product for ${licenses}`,
    done: 'changed',
    consequence: 'They get the product’s terms, besides their own. Their expiry dates don’t change.',
    skipped: '',
  },
};

/** Whether an action changes a license. The same rules decide which buttons a license's own page has. */
export const isApplicable = (action: BulkAction, { status, expires_at }: LicenseBody): boolean => {
  if (action === 'product') return true;
  if (action === 'extend') return canChangeExpiry(status) && expires_at !== null;
  if (action === 'suspend' && status === 'expired') return false;
  return nextStatus(status === 'expired' ? 'active' : status, action) !== null;
};

const licenseApi = api.v1.licenses[':id'];

/** One that takes back a change allows any label, because the license has had it. */
const setProduct = ({ id }: LicenseBody, product: string | null, isUndo = false) =>
  call(
    licenseApi.$patch({
      param: { id },
      json: { product },
      query: isUndo ? { allow_unknown_product: 'true' } : {},
    }),
  );

/** The form of an extension always has a new expiry. The service refuses this one. */
const NO_DAYS = { duration_days: 0 };

export const sendAction = (
  action: BulkAction,
  license: LicenseBody,
  { expiry = NO_DAYS, product = null, reason = '', extension = crypto.randomUUID() }: NewValue = {},
): Promise<LicenseBody> => {
  const param = { id: license.id };
  if (action === 'product') return setProduct(license, product);
  if (action === 'extend')
    return sendRenewal(license.id)({ json: expiry, idempotencyKey: `${extension}.${license.id}` });
  return call(licenseApi[action].$post({ param, json: withReason(reason) }));
};

export interface Undo {
  done: string;
  /** Takes the action back. The license is as it was before. */
  send: (license: LicenseBody) => Promise<LicenseBody>;
}

/** The actions that can be taken back: all but a revocation, and an extension, after which no earlier day may be set. */
export const UNDO: Partial<Record<BulkAction, Undo>> = {
  suspend: { done: 'reinstated', send: (license) => sendAction('reinstate', license) },
  reinstate: { done: 'suspended again', send: (license) => sendAction('suspend', license) },
  product: {
    done: 'changed back',
    send: (license) => setProduct(license, license.product, true),
  },
};

export const licensesText = (count: number): string => plural(count, 'license');
