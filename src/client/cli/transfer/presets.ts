// Maps the licenses that other services export to the lines of an import. Each preset names the source of its fields.

type Row = Record<string, unknown>;

/** Returns a line for a record of another service, or null if the record is no license. */
export type Preset = (row: Row) => Row | null;

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null;

const text = (value: unknown): string | undefined =>
  (typeof value === 'string' && value.trim() !== '') || typeof value === 'number'
    ? String(value).trim()
    : undefined;

/** Returns the day of a time. A license is valid through the end of its last day. */
const day = (value: unknown): string | undefined => {
  const ms = Date.parse(text(value) ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);
};

const time = (value: unknown): string | undefined => {
  const ms = Date.parse(text(value) ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
};

const isYes = (value: unknown) => value === true || value === 1 || value === '1' || value === 'true';

const seats = (limit: unknown) => {
  const number = Number(limit ?? NaN);
  return Number.isInteger(number) && number > 0 ? { max_activations: number } : undefined;
};

/** Keeps the values that metadata can have. */
const flat = (values: Row): Row | undefined => {
  const kept = Object.entries(values).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

const line = (fields: Row): Row =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** An API puts the fields into `attributes`. A table has them as columns. */
const attributesOf = (row: Row): Row => (isObject(row['attributes']) ? row['attributes'] : row);

/** https://keygen.sh/docs/api/licenses. The name is the license's, and its user is another resource. */
const keygen: Preset = (row) => {
  const { key, name, expiry, status, suspended, maxMachines, metadata, created } = attributesOf(row);
  const own = isObject(metadata) ? metadata : {};
  const isStopped = isYes(suspended) || status === 'SUSPENDED' || status === 'BANNED';
  return line({
    license_key: text(key),
    customer_email: text(own['email'] ?? own['customerEmail']),
    customer_name: text(own['name'] ?? own['customerName']),
    customer_company: text(own['company'] ?? own['customerCompany']),
    expires_at: day(expiry) ?? null,
    status: isStopped ? 'suspended' : undefined,
    terms: seats(maxMachines),
    metadata: flat({ ...own, keygen_id: row['id'], keygen_name: text(name) }),
    created_at: time(created),
  });
};

/** https://docs.lemonsqueezy.com/api/license-keys */
const lemonSqueezy: Preset = (row) => {
  const fields = attributesOf(row);
  return line({
    license_key: text(fields['key']),
    customer_email: text(fields['user_email']),
    customer_name: text(fields['user_name']),
    product: text(fields['product_id']),
    expires_at: day(fields['expires_at']) ?? null,
    status: isYes(fields['disabled']) || fields['status'] === 'disabled' ? 'suspended' : undefined,
    terms: seats(fields['activation_limit']),
    metadata: flat({ lemonsqueezy_id: row['id'], lemonsqueezy_order: fields['order_id'] }),
    created_at: time(fields['created_at']),
  });
};

/** The sales export: https://github.com/antiwork/gumroad/blob/main/app/services/exports/purchase_export_service.rb */
const gumroad: Preset = (row) => {
  // A recurring charge repeats the key of its first purchase, and the last row has the totals.
  if (text(row['License Key']) === undefined || isYes(row['Recurring Charge?'])) return null;
  const isLost = isYes(row['Disputed?']) && !isYes(row['Dispute Won?']);
  const isEnabled = row['License Key Enabled?'] === undefined || isYes(row['License Key Enabled?']);
  const isStopped = !isEnabled || isYes(row['Fully Refunded?']) || isYes(row['Access Revoked?']) || isLost;
  const giftee = text(row['Giftee Email']);
  return line({
    license_key: text(row['License Key']),
    customer_email: giftee ?? text(row['Purchase Email']) ?? text(row['Buyer Email']),
    // A gift's buyer isn't its customer.
    customer_name: giftee === undefined ? text(row['Buyer Name']) : undefined,
    // A custom field of the checkout has a column of its name.
    customer_company: giftee === undefined ? text(row['Company']) : undefined,
    product: text(row['Item Name']),
    expires_at: day(row['Subscription End Date']) ?? null,
    status: isStopped ? 'suspended' : undefined,
    metadata: flat({ gumroad_purchase: row['Purchase ID'], gumroad_variants: text(row['Variants']) }),
    created_at: day(row['Purchase Date']),
  });
};

/** https://github.com/polarsource/polar/blob/main/server/polar/license_key/schemas.py */
const polar: Preset = (row) => {
  const { key, status, expires_at, limit_activations, created_at, customer, benefit_id, id } = row;
  const { email, name } = isObject(customer) ? customer : {};
  return line({
    license_key: text(key),
    customer_email: text(email),
    customer_name: text(name),
    expires_at: day(expires_at) ?? null,
    status: status === 'revoked' ? 'revoked' : status === 'disabled' ? 'suspended' : undefined,
    terms: seats(limit_activations),
    metadata: flat({ polar_id: id, polar_benefit: benefit_id }),
    created_at: time(created_at),
  });
};

export const PRESETS: Record<string, Preset> = { keygen, lemonsqueezy: lemonSqueezy, gumroad, polar };
