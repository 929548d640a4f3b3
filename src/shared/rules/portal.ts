// What customers may do by themselves in a seller's portal. The Worker enforces it, and both pages show it.

export const PORTAL_PERMISSIONS = ['release_seat', 'offline_file', 'rotate_key', 'change_email'] as const;
export type PortalPermission = (typeof PORTAL_PERMISSIONS)[number];
export type PortalPermissions = Record<PortalPermission, boolean>;

/** An address has licenses of several products, so a product says nothing about it. */
export const PRODUCT_PERMISSIONS = ['release_seat', 'offline_file', 'rotate_key'] as const;
export type ProductPermission = (typeof PRODUCT_PERMISSIONS)[number];
export type ProductPermissions = Partial<Record<ProductPermission, boolean>>;

/** Changing a key breaks the installations that have the old one, so only a seller who wants that allows it. */
export const DEFAULT_PERMISSIONS: PortalPermissions = {
  release_seat: true,
  offline_file: true,
  rotate_key: false,
  change_email: true,
};

/** What a customer may do with a license of the product. */
export const permissionsFor = (
  { allow, products }: { allow: PortalPermissions; products: Record<string, ProductPermissions> },
  product: string | null,
): PortalPermissions => ({
  ...allow,
  ...(product !== null && Object.hasOwn(products, product) ? products[product] : {}),
});

export const MIN_SLUG_LENGTH = 3;
export const MAX_SLUG_LENGTH = 40;
export const SLUG_PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const ACCENT_COLOR_PATTERN = /^#(?:[0-9a-fA-F]{3}){1,2}$/;

/** A color with six digits, as inputs of browsers want it. */
export const fullColor = (color: string): string =>
  (color.length === 4 ? color.replaceAll(/[^#]/g, '$&$&') : color).toLowerCase();
export const MAX_PORTAL_NAME_LENGTH = 80;

/** Slugs that would look like the service's own pages. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'account',
  'admin',
  'api',
  'assets',
  'billing',
  'docs',
  'help',
  'latchkey',
  'login',
  'official',
  'operator',
  'portal',
  'security',
  'settings',
  'sign-in',
  'support',
  'www',
]);

/** A license key as a list shows it: enough to tell it from others, and too little to use it. */
export const maskLicenseKey = (licenseKey: string): string => {
  const shown = Math.min(5, Math.floor(licenseKey.length / 4));
  return `${licenseKey.slice(0, shown)}********${licenseKey.slice(-Math.min(4, shown))}`;
};

/** As SQLite's lower() does, by which the licenses of an address are found. */
export const lowerAscii = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
