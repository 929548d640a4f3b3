import type { ApiClient } from '../api/client.ts';
import { answer } from './connection.ts';
import { CliError } from './failure.ts';

const GENERATED_KEY = /^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/;

/** Reads a generated key as the service does: case, spaces and hyphens don't matter, O is 0, and I and L are 1. */
const plain = (key: string) =>
  key.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');

/** Returns the id of a license that is named by its id or by its license key. */
export const findLicenseId = async (api: ApiClient, idOrKey: string): Promise<string> => {
  if (/^lic_[0-9A-Za-z]+$/.test(idOrKey)) return idOrKey;
  const query = { q: idOrKey };
  const { data } = await answer(api.GET('/api/v1/licenses', { params: { query } }));
  const license =
    data.find(({ license_key }) => license_key === idOrKey) ??
    data.find(({ license_key: key }) => GENERATED_KEY.test(key) && plain(key) === plain(idOrKey));
  if (license) return license.id;
  throw new CliError('There is no license with this id or key.', { code: 'license_not_found' });
};
