import * as z from 'zod';
import type { PortalRow, PortalSessionRow } from '../db/schema.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import {
  ACCENT_COLOR_PATTERN,
  MAX_PORTAL_NAME_LENGTH,
  MAX_SLUG_LENGTH,
  MIN_SLUG_LENGTH,
  RESERVED_SLUGS,
  SLUG_PATTERN,
} from '../shared/rules/portal.ts';
import { MAX_PRODUCT_CODE_LENGTH, PRODUCT_CODE_PATTERN } from '../shared/rules/terms.ts';
import { email, text } from '../shared/schemas/fields.ts';
import { pageAfter } from '../shared/schemas/lists.ts';

// The settings of the portal, and what an application asks of it.

const MAX_URL_LENGTH = 2_000;
/** A row of the first database, which no plan limits. */
const MAX_PRODUCTS = 100;

const isWebUrl = (value: string) => /^https?:$/.test(URL.parse(value)?.protocol ?? '');
const webUrl = z
  .string()
  .trim()
  .max(MAX_URL_LENGTH)
  .refine(isWebUrl, 'must be a URL that begins with https://');

/** Mail programs open a support address, too. */
const supportUrl = z
  .string()
  .trim()
  .max(MAX_URL_LENGTH)
  .refine(
    (value) => isWebUrl(value) || /^mailto:[^\s@]+@[^\s@]+$/.test(value),
    'must begin with https:// or mailto:',
  );

const slug = z
  .string()
  .trim()
  .toLowerCase()
  .min(MIN_SLUG_LENGTH)
  .max(MAX_SLUG_LENGTH)
  .regex(SLUG_PATTERN, 'must be letters, digits, and single hyphens between them')
  .refine((value) => !RESERVED_SLUGS.has(value), 'is reserved')
  .meta({ description: 'The portal’s name in its URL. No two portals have the same.', examples: ['orrery'] });

const PERMITS = {
  release_seat: 'Release the seat of a machine. It counts toward `max_transfers`.',
  offline_file: 'Get an offline file for a machine without a network.',
  rotate_key: 'Replace a license key. The old one stops at once.',
  change_email: 'Change their email address. Both addresses must confirm it.',
};

const productPermissions = {
  release_seat: z.boolean().optional().meta({ description: PERMITS.release_seat }),
  offline_file: z.boolean().optional().meta({ description: PERMITS.offline_file }),
  rotate_key: z.boolean().optional().meta({ description: PERMITS.rotate_key }),
};
const permissionsInput = {
  ...productPermissions,
  change_email: z.boolean().optional().meta({ description: PERMITS.change_email }),
};

const productCode = z.string().max(MAX_PRODUCT_CODE_LENGTH).regex(PRODUCT_CODE_PATTERN);

export const putPortalInput = z
  .strictObject({
    enabled: z.boolean().optional().meta({ description: 'The default is false.' }),
    slug: slug
      .nullish()
      .meta({ description: 'The portal’s name in its URL. It stays as it is if it isn’t sent.' }),
    name: text(MAX_PORTAL_NAME_LENGTH).nullish().meta({
      description: 'What customers know you as: the page’s title, and the sender’s name of its emails.',
    }),
    accent_color: z.string().regex(ACCENT_COLOR_PATTERN, 'must be a color such as #2563eb').nullish(),
    support_url: supportUrl
      .nullish()
      .meta({ description: 'Where customers find help: a page, or `mailto:`.' }),
    allow: z.strictObject(permissionsInput).optional().meta({
      description: 'What customers may do by themselves. By default, everything but `rotate_key`.',
    }),
    products: z
      .record(productCode, z.strictObject(productPermissions))
      .refine(
        (value) => Object.keys(value).length <= MAX_PRODUCTS,
        `must have at most ${MAX_PRODUCTS} products`,
      )
      .nullish()
      .meta({ description: 'By the code of a product: what its licenses allow instead of `allow`.' }),
  })
  .meta({ id: 'PutPortal' });

const permissionsBody = z
  .object({
    release_seat: z.boolean(),
    offline_file: z.boolean(),
    rotate_key: z.boolean(),
    change_email: z.boolean(),
  })
  .meta({ id: 'PortalPermissions' });

export const portalBody = z
  .object({
    enabled: z.boolean(),
    slug: z.string().nullable(),
    url: z.string().nullable().meta({ description: 'The page. Null without a slug.' }),
    name: z.string().nullable(),
    accent_color: z.string().nullable(),
    support_url: z.string().nullable(),
    allow: permissionsBody,
    products: z.record(z.string(), permissionsBody.omit({ change_email: true }).partial()),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Portal' });

export const toPortal = (row: Omit<PortalRow, 'accountId'>, origin: string): z.infer<typeof portalBody> => ({
  enabled: row.enabled,
  slug: row.slug,
  url: row.slug === null ? null : portalUrl(origin, row.slug),
  name: row.name,
  accent_color: row.accentColor,
  support_url: row.supportUrl,
  allow: row.allow,
  products: row.products,
  updated_at: isoTimeOrNull(row.updatedAt || null),
});

export const portalUrl = (origin: string, portalSlug: string): string => `${origin}/portal/${portalSlug}`;

/** Its token is in the fragment, which browsers don't send, so no log has it. */
export const portalLink = (origin: string, portalSlug: string, token: string): string =>
  `${portalUrl(origin, portalSlug)}#token=${token}`;

export const openPortalInput = z
  .strictObject({
    license_id: z.string().max(64).optional().meta({ description: 'The session shows this license alone.' }),
    customer_email: email.optional().meta({ description: 'The session shows all licenses of the address.' }),
    return_url: webUrl.optional().meta({ description: 'Where the page leads back to.' }),
  })
  .refine(({ license_id, customer_email }) => (license_id === undefined) !== (customer_email === undefined), {
    message: 'needs either license_id or customer_email',
    path: ['license_id'],
  })
  .meta({ id: 'OpenPortal' });

export const portalLinkBody = z
  .object({ url: z.string(), expires_at: z.iso.datetime() })
  .meta({ id: 'PortalLink' });

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

export const listSessionsQuery = z.object(pageAfter(/^[1-9][0-9]{0,14}_pse_[0-9A-Za-z]{20}$/));

export const toCustomerSession = (row: PortalSessionRow, currentId: string) => ({
  id: row.id,
  created_at: isoTime(row.createdAt),
  last_seen_at: isoTime(row.lastSeenAt),
  ip: row.ip,
  user_agent: row.userAgent,
  current: row.id === currentId,
});
