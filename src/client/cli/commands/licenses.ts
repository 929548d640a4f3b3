import type { components, operations } from '../../api/schema.ts';
import { type Command, command, given, wholeNumber } from '../command.ts';
import { answer } from '../connection.ts';
import { CliError } from '../failure.ts';
import { findLicenseId } from '../find-license.ts';
import type { Output } from '../output.ts';
import { allPages } from '../pages.ts';

type License = components['schemas']['License'];
type Sort = NonNullable<NonNullable<operations['listLicenses']['parameters']['query']>['sort']>;

const show = (out: Output, license: License) =>
  out.fields(license, {
    ...license,
    expires_at: license.expires_at ?? 'never',
    updates_until: license.updates_until ?? 'forever',
    metadata: JSON.stringify(license.metadata),
    terms: JSON.stringify(license.terms),
  });

const DEFAULT_LIMIT = 50;
const SEATS = ['full', 'used'] as const;
const STATUSES = ['active', 'expired', 'suspended', 'revoked'] as const;

const toMetadata = (pairs: string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new CliError('--metadata must have the form NAME=VALUE.');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

/** Reads an option that has one of a few values. */
const oneOf = <T extends string>(
  name: string,
  values: readonly T[],
  value: string | undefined,
): T | undefined => {
  const known = values.find((candidate) => candidate === value);
  if (value !== undefined && known === undefined)
    throw new CliError(`--${name} must be one of ${values.join(', ')}.`);
  return known;
};

const SORTS = ['created_at', 'expires_at', 'customer_email'].flatMap((field) => [
  field,
  `-${field}`,
]) as Sort[];

const list = command({
  name: 'licenses list',
  args: [],
  summary: 'List licenses, newest first',
  options: {
    status: { value: 'STATUS', help: `Only ${STATUSES.join(', ')}` },
    search: {
      value: 'TEXT',
      help: 'Only licenses whose key, customer, product, or metadata contains the text',
    },
    email: { value: 'EMAIL', help: 'Only the customer with this email address' },
    product: { value: 'CODE', help: 'Only this product' },
    metadata: {
      value: 'NAME=VALUE',
      multiple: true,
      help: 'Only with this entry of the metadata. Can be repeated',
    },
    seats: { value: 'SEATS', help: 'Only full (all seats are taken) or used (at least one is)' },
    machine: {
      value: 'MACHINE',
      help: 'Only with this fingerprint, id of an activation, or beginning of a machine’s name',
    },
    'expires-before': { value: 'DATE', help: 'Only licenses whose last day is earlier' },
    'expires-after': { value: 'DATE', help: 'Only licenses whose last day is later' },
    'created-before': { value: 'TIME', help: 'Only licenses that were created earlier' },
    'created-after': { value: 'TIME', help: 'Only licenses that were created later' },
    sort: {
      value: 'FIELD',
      help: 'created_at, expires_at, or customer_email. Descending with --sort=-FIELD',
    },
    limit: { value: 'N', help: `How many to list, ${DEFAULT_LIMIT} by default` },
    all: { help: 'List all of them' },
  },
  run: async (
    { out, api },
    _args,
    { search: q, limit, all, email, product, metadata, machine, ...options },
  ) => {
    const status = oneOf('status', STATUSES, options.status);
    const seats = oneOf('seats', SEATS, options.seats);
    const sort = oneOf('sort', SORTS, options.sort);
    const max = all ? Infinity : (wholeNumber('limit', limit) ?? DEFAULT_LIMIT);
    const client = await api();
    const filter = given({
      status,
      q,
      customer_email: email,
      product,
      metadata: metadata && toMetadata(metadata),
      seats,
      machine,
      expires_before: options['expires-before'],
      expires_after: options['expires-after'],
      created_before: options['created-before'],
      created_after: options['created-after'],
      sort,
    });
    const pages = await allPages(out, max, (page) =>
      answer(client.GET('/api/v1/licenses', { params: { query: { ...filter, ...page } } })),
    );
    out.table(pages, pages.data, {
      id: ({ id }) => id,
      'license key': ({ license_key }) => license_key,
      status: ({ status }) => status,
      product: ({ product }) => product,
      customer: ({ customer_email }) => customer_email,
      expires: ({ expires_at }) => expires_at,
    });
    if (pages.next_cursor !== null) out.note('There are more licenses: pass --limit or --all.');
    return 0;
  },
});

const get = command({
  name: 'licenses get',
  args: ['LICENSE'],
  summary: 'Show a license, by its id or its license key',
  options: {},
  run: async ({ out, api }, [license = '']) => {
    const client = await api();
    const path = { id: await findLicenseId(client, license) };
    show(out, await answer(client.GET('/api/v1/licenses/{id}', { params: { path } })));
    return 0;
  },
});

const create = command({
  name: 'licenses create',
  args: [],
  summary: 'Create a license',
  options: {
    email: { value: 'EMAIL', help: 'The customer’s email address. By default, your own' },
    name: { value: 'NAME', help: 'The customer’s name' },
    company: { value: 'COMPANY', help: 'The customer’s company' },
    product: { value: 'CODE', help: 'The product' },
    'allow-unknown-product': { help: 'Accept a product that doesn’t exist as a mere label' },
    'expires-at': { value: 'DATE', help: 'The license’s last day' },
    'duration-days': { value: 'N', help: 'How many days the license lasts' },
    'updates-until': { value: 'DATE', help: 'The last release date that the license covers' },
    'license-key': { value: 'KEY', help: 'Your own license key. By default, one is generated' },
    metadata: { value: 'NAME=VALUE', multiple: true, help: 'An entry of the metadata. Can be repeated' },
    'idempotency-key': {
      value: 'TEXT',
      help: 'Repeating the call with the same text creates no other license',
    },
  },
  run: async ({ out, api }, _args, options) => {
    const { email, name, company, product, metadata, 'idempotency-key': key } = options;
    const client = await api();
    const body = given({
      customer_email: email,
      customer_name: name,
      customer_company: company,
      product,
      expires_at: options['expires-at'],
      duration_days: wholeNumber('duration-days', options['duration-days']),
      updates_until: options['updates-until'],
      license_key: options['license-key'],
      metadata: metadata && toMetadata(metadata),
    });
    const header = given({ 'Idempotency-Key': key });
    const query = given({
      allow_unknown_product: options['allow-unknown-product'] ? ('true' as const) : undefined,
    });
    show(out, await answer(client.POST('/api/v1/licenses/create', { body, params: { header, query } })));
    return 0;
  },
});

const transition = (name: 'suspend' | 'reinstate' | 'revoke', summary: string): Command =>
  command({
    name: `licenses ${name}`,
    args: ['LICENSE'],
    summary,
    options: { reason: { value: 'TEXT', help: 'Why, for the license’s history and the event' } },
    run: async ({ out, api }, [license = ''], { reason }) => {
      const client = await api();
      const path = { id: await findLicenseId(client, license) };
      const body = given({ reason });
      show(out, await answer(client.POST(`/api/v1/licenses/{id}/${name}`, { params: { path }, body })));
      return 0;
    },
  });

const renew = command({
  name: 'licenses renew',
  args: ['LICENSE'],
  summary: 'Set a license’s last day, or extend it',
  options: {
    'expires-at': { value: 'DATE', help: 'The new last day' },
    'duration-days': { value: 'N', help: 'How many days to add' },
  },
  run: async ({ out, api }, [license = ''], { 'expires-at': expires_at, 'duration-days': days }) => {
    const duration_days = wholeNumber('duration-days', days);
    const client = await api();
    const path = { id: await findLicenseId(client, license) };
    const body = given({ expires_at, duration_days });
    show(out, await answer(client.POST('/api/v1/licenses/{id}/renew', { params: { path }, body })));
    return 0;
  },
});

export const licenseCommands = [
  list,
  get,
  create,
  transition('suspend', 'Suspend a license'),
  transition('reinstate', 'Reinstate a suspended license'),
  transition('revoke', 'Revoke a license for good'),
  renew,
];
