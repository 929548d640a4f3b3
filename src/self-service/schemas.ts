import * as z from 'zod';
import type { LicenseRow, PortalRow } from '../db/schema.ts';
import type { Machine } from '../gate/rules/seats.ts';
import { isoDate, isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { graceUntil, licenseState } from '../shared/rules/licenses.ts';
import { maskLicenseKey, permissionsFor } from '../shared/rules/portal.ts';
import { type ProductTerms, resolveTerms } from '../shared/rules/terms.ts';
import { email } from '../shared/schemas/fields.ts';

// What customers see of a license, and send about it. They see less of it than its seller does.

export interface KnownProduct {
  name: string | null;
  terms: ProductTerms;
}

export const toCustomersLicense = (
  license: LicenseRow,
  product: KnownProduct | undefined,
  portal: PortalRow,
  hasStorePage: boolean,
) => {
  const terms = resolveTerms(product?.terms ?? {}, license.terms);
  const { release_seat, offline_file, rotate_key } = permissionsFor(portal, license.product);
  const lastDay = graceUntil(license.expiresAt, terms.graceDays);
  return {
    id: license.id,
    masked_key: maskLicenseKey(license.licenseKey),
    status: licenseState({ ...license, expiresAt: lastDay ?? license.expiresAt }, isoDate(Date.now())),
    product: license.product,
    product_name: product?.name ?? null,
    expires_at: license.expiresAt,
    grace_until: lastDay,
    updates_until: license.updatesUntil,
    created_at: isoTime(license.createdAt),
    max_activations: terms.maxActivations,
    max_transfers: terms.maxTransfers,
    lease_seconds: terms.leaseSeconds,
    offline_days: terms.offlineDays,
    /** Whether the store that sold it has a page for invoices and canceling. */
    has_store_page: hasStorePage,
    /** What the seller lets the customer do with this license. */
    can: { release_seat, offline_file: offline_file && terms.offlineDays > 0, rotate_key },
  };
};

/** A machine without its fingerprint, by which somebody could pass for it. `held_until` is the end of an offline file. */
export const toMachine = ({ seat, ...machine }: Machine) => ({
  id: machine.id,
  name: machine.name,
  platform: machine.platform,
  app_version: machine.appVersion,
  activated_at: isoTime(seat.activatedAtMs),
  last_seen_at: isoTime(seat.lastSeenAtMs),
  lease_until: isoTimeOrNull(seat.leaseUntilMs),
  held_until: (seat.fileUntilMs ?? 0) > Date.now() ? isoTimeOrNull(seat.fileUntilMs) : null,
});

/** A person copies it from another screen, with its spaces and line breaks. */
const fingerprint = z
  .string()
  .transform((value) => value.replaceAll(/\s/g, ''))
  .pipe(z.string().regex(/^[\x21-\x7e]{8,256}$/, 'must be 8 to 256 visible ASCII characters'));

/** A request code is what the application shows on a machine without a network: the machine's fingerprint. */
export const fileInput = z
  .strictObject({ fingerprint: fingerprint.optional(), request_code: fingerprint.optional() })
  .refine((sent) => Object.keys(sent).length === 1, {
    message: 'needs either fingerprint or request_code',
    path: ['fingerprint'],
  });

export const customersEmailInput = z.strictObject({ email });
