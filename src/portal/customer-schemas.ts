import * as z from 'zod';
import type { PortalRow, PortalSessionRow } from '../db/schema.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { email, text } from '../shared/schemas/fields.ts';

// What anybody sees of a portal, and how a customer signs in.

const MAX_KEY_LENGTH = 128;
const licenseKey = text(MAX_KEY_LENGTH);

/** A link to the address, or a code to that of the license. */
export const signInInput = z.union([z.strictObject({ email }), z.strictObject({ license_key: licenseKey })]);

export const sessionInput = z.union([
  z.strictObject({ token: z.string().max(256) }),
  z.strictObject({ license_key: licenseKey, code: z.string().max(32) }),
]);

export const toPortalPage = (row: PortalRow) => ({
  slug: row.slug ?? '',
  name: row.name ?? row.slug ?? '',
  accent_color: row.accentColor,
  support_url: row.supportUrl,
  allow: row.allow,
});

export const toCustomerSession = (row: PortalSessionRow, currentId: string) => ({
  id: row.id,
  created_at: isoTime(row.createdAt),
  last_seen_at: isoTime(row.lastSeenAt),
  ip: row.ip,
  user_agent: row.userAgent,
  current: row.id === currentId,
});
