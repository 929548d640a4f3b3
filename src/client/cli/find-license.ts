import type { ApiClient } from '../api/client.ts';
import type { components } from '../api/schema.ts';
import { answer } from './connection.ts';
import { CliError } from './failure.ts';

type Page = components['schemas']['LicenseList'];

const PAGE_SIZE = 100;
const GENERATED_KEY = /^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/;

/** Reads a generated key as the service does: case, spaces and hyphens don't matter, O is 0, and I and L are 1. */
const plain = (key: string) =>
  key.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');

/** Returns the id of a license that is named by its id or by its license key, which may be in any number of others. */
export const findLicenseId = async (api: ApiClient, idOrKey: string): Promise<string> => {
  if (/^lic_[0-9A-Za-z]+$/.test(idOrKey)) return idOrKey;
  const wanted = plain(idOrKey);
  let similarId: string | undefined;
  let next: { cursor?: string } | null = {};
  while (next) {
    const query = { q: idOrKey, limit: PAGE_SIZE, ...next };
    const page: Page = await answer(api.GET('/api/v1/licenses', { params: { query } }));
    const license = page.data.find(({ license_key }) => license_key === idOrKey);
    if (license) return license.id;
    similarId ??= page.data.find(
      ({ license_key: key }) => GENERATED_KEY.test(key) && plain(key) === wanted,
    )?.id;
    next = page.next_cursor === null ? null : { cursor: page.next_cursor };
  }
  if (similarId !== undefined) return similarId;
  throw new CliError('There is no license with this id or key.', { code: 'license_not_found' });
};
