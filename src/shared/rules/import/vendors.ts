import type { Fields } from '../import-lines.ts';
import { isFields } from './json.ts';
import { flatValues, isYes, joined, textOf, toLine, type Values } from './values.ts';

// Maps what other services export to the lines of an import. docs/moving-from.md says from where each shape is known.

/** A line, or why the row is no license. */
type Mapped = Fields | string;

export interface Vendor {
  name: string;
  /** What to export there. */
  file: string;
  /** Whether a file with these columns is one of the service. */
  isIts: (has: (...columns: string[]) => boolean, resource: string) => boolean;
  /** The columns with dates. */
  dates: string[];
  toLine: (row: Fields, values: Values) => Mapped;
}

const objectOf = (value: unknown): Fields => (isFields(value) ? value : {});

const keygen: Vendor = {
  name: 'Keygen',
  file: 'licenses as JSON',
  isIts: (has, resource) => resource === 'licenses' || has('key', 'expiry', 'maxMachines'),
  dates: ['expiry', 'created'],
  toLine: (row, values) => {
    // The license's name isn't its customer's.
    const { key, name, expiry, status, suspended, maxMachines, metadata, created } = row;
    const own = objectOf(metadata);
    const user = objectOf(row['user']);
    const isStopped = isYes(suspended) || status === 'SUSPENDED' || status === 'BANNED';
    return toLine({
      license_key: values.key('key', key),
      customer_email: textOf(own['email'] ?? own['customerEmail'] ?? user['email']),
      customer_name:
        textOf(own['name'] ?? own['customerName'] ?? user['fullName']) ??
        joined(user['firstName'], user['lastName']),
      customer_company: textOf(own['company'] ?? own['customerCompany']),
      product: textOf(objectOf(row['product'])['name'] ?? objectOf(row['product'])['id']),
      expires_at: values.day('expiry', expiry),
      status: isStopped ? 'suspended' : undefined,
      terms: values.seats('maxMachines', maxMachines),
      metadata: flatValues({ ...own, keygen_id: row['id'], keygen_name: textOf(name) }),
      created_at: values.time('created', created),
    });
  },
};

const lemonSqueezy: Vendor = {
  name: 'Lemon Squeezy',
  file: 'license keys as JSON',
  isIts: (has, resource) => resource === 'license-keys' || has('key', 'user_email', 'activation_limit'),
  dates: ['expires_at', 'created_at'],
  toLine: (row, values) =>
    toLine({
      license_key: values.key('key', row['key']),
      customer_email: textOf(row['user_email']),
      customer_name: textOf(row['user_name']),
      product: textOf(objectOf(row['product'])['name'] ?? row['product_id']),
      expires_at: values.day('expires_at', row['expires_at']),
      status: isYes(row['disabled']) || row['status'] === 'disabled' ? 'suspended' : undefined,
      terms: values.seats('activation_limit', row['activation_limit']),
      metadata: flatValues({ lemonsqueezy_id: row['id'], lemonsqueezy_order: row['order_id'] }),
      created_at: values.time('created_at', row['created_at']),
    }),
};

const gumroad: Vendor = {
  name: 'Gumroad',
  file: 'sales as CSV',
  isIts: (has) => has('License Key', 'Item Name', 'Purchase Email') || has('License Key', 'Purchase ID'),
  dates: ['Subscription End Date', 'Purchase Date'],
  toLine: (row, values) => {
    if (isYes(row['Recurring Charge?'])) return 'it is a recurring charge, which repeats the first purchase';
    const isLost = isYes(row['Disputed?']) && !isYes(row['Dispute Won?']);
    const isEnabled = textOf(row['License Key Enabled?']) === undefined || isYes(row['License Key Enabled?']);
    const isStopped = !isEnabled || isYes(row['Fully Refunded?']) || isYes(row['Access Revoked?']) || isLost;
    const giftee = textOf(row['Giftee Email']);
    return toLine({
      license_key: values.key('License Key', row['License Key']),
      customer_email: giftee ?? textOf(row['Purchase Email']) ?? textOf(row['Buyer Email']),
      // A gift's buyer isn't its customer.
      customer_name: giftee === undefined ? textOf(row['Buyer Name']) : undefined,
      // A custom field of the checkout has a column of its name.
      customer_company: giftee === undefined ? textOf(row['Company']) : undefined,
      product: textOf(row['Item Name']),
      expires_at: values.day('Subscription End Date', row['Subscription End Date']),
      status: isStopped ? 'suspended' : undefined,
      metadata: flatValues({
        gumroad_purchase: row['Purchase ID'],
        gumroad_variants: textOf(row['Variants']),
      }),
      created_at: values.time('Purchase Date', row['Purchase Date']),
    });
  },
};

const POLAR_STATUS: Record<string, string> = { revoked: 'revoked', disabled: 'suspended' };

const polar: Vendor = {
  name: 'Polar',
  file: 'license keys as JSON',
  isIts: (has) => has('key', 'benefit_id') || has('key', 'display_key'),
  dates: ['expires_at', 'created_at'],
  toLine: (row, values) => {
    const customer = objectOf(row['customer']);
    return toLine({
      license_key: values.key('key', row['key']),
      customer_email: textOf(customer['email']),
      customer_name: textOf(customer['name']),
      product: textOf(row['benefit_id']),
      expires_at: values.day('expires_at', row['expires_at']),
      status: POLAR_STATUS[textOf(row['status']) ?? ''],
      terms: values.seats('limit_activations', row['limit_activations']),
      metadata: flatValues({ polar_id: row['id'], polar_benefit: row['benefit_id'] }),
      created_at: values.time('created_at', row['created_at']),
    });
  },
};

/** Cryptlex has its metadata as a list of keys and values. */
const pairsOf = (metadata: unknown): Fields =>
  Object.fromEntries(
    (Array.isArray(metadata) ? metadata : [])
      .filter(isFields)
      .map(({ key, value }) => [`cryptlex_${String(key)}`, value]),
  );

const cryptlex: Vendor = {
  name: 'Cryptlex',
  file: 'licenses as JSON or CSV',
  isIts: (has) => has('key', 'allowedActivations'),
  dates: ['expiresAt', 'createdAt'],
  toLine: (row, values) => {
    // In a table, the user's fields have columns of their own.
    const user = isFields(row['user']) ? row['user'] : row;
    const isRevoked = isYes(row['revoked']);
    return toLine({
      license_key: values.key('key', row['key']),
      customer_email: textOf(user['email']),
      customer_name: joined(user['firstName'], user['lastName']),
      customer_company: textOf(user['company']),
      product: textOf(row['productId']),
      expires_at: values.day('expiresAt', row['expiresAt']),
      status: isRevoked ? 'revoked' : isYes(row['suspended']) ? 'suspended' : undefined,
      terms: values.seats('allowedActivations', row['allowedActivations']),
      metadata: flatValues({
        cryptlex_id: row['id'],
        cryptlex_order: row['order_id'],
        ...pairsOf(row['metadata']),
      }),
      created_at: values.time('createdAt', row['createdAt']),
    });
  },
};

const licenseSpring: Vendor = {
  name: 'LicenseSpring',
  file: 'licenses as CSV',
  isIts: (has) => has('license__license_key'),
  dates: ['license__validity_period', 'license__maintenance_period'],
  toLine: (row, values) => {
    const enabled = textOf(row['license__enabled']);
    const isUnlimited = isYes(row['license__allow_unlimited_activations']);
    const updatesUntil = values.day('license__maintenance_period', row['license__maintenance_period']);
    return toLine({
      license_key: values.key('license__license_key', row['license__license_key']),
      customer_email: textOf(row['customer__email']),
      customer_name: joined(row['customer__first_name'], row['customer__last_name']),
      customer_company: textOf(row['customer__company_name']),
      product: textOf(row['product__short_code']),
      expires_at: values.day('license__validity_period', row['license__validity_period']),
      updates_until: updatesUntil ?? undefined,
      status: enabled !== undefined && !isYes(enabled) ? 'suspended' : undefined,
      terms: isUnlimited
        ? values.seats('license__allow_unlimited_activations', 'unlimited')
        : values.seats('license__max_activations', row['license__max_activations']),
      metadata: flatValues({
        licensespring_order: row['order__store_id'],
        licensespring_note: row['license__note'],
      }),
    });
  },
};

const paddle: Vendor = {
  name: 'Paddle Classic',
  file: 'the report of sent licenses',
  isIts: (has) => has('License Code', 'Customer Email') || has('License Code', 'Paddle License ID'),
  dates: ['Date Sent'],
  toLine: (row, values) =>
    toLine({
      license_key: values.key('License Code', row['License Code']),
      customer_email: textOf(row['Customer Email']),
      product: textOf(row['Product Name']) ?? textOf(row['Product ID']),
      metadata: flatValues({
        paddle_order: row['Order ID'],
        paddle_license: row['Paddle License ID'],
      }),
      created_at: values.time('Date Sent', row['Date Sent']),
    }),
};

export const VENDORS = {
  keygen,
  lemonsqueezy: lemonSqueezy,
  gumroad,
  polar,
  cryptlex,
  licensespring: licenseSpring,
  paddle,
};
export type VendorId = keyof typeof VENDORS;
