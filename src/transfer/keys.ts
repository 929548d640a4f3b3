import { createHmac } from 'node:crypto';
import type { Ctx } from '../db/ctx.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { licenseKeyOf } from '../shared/rules/license-key.ts';
import type { LicenseLine } from './schemas.ts';

/**
 * Chooses the keys of lines without a license key. The same line of the same account always gets the same key, so that
 * a file that is sent again creates no license twice. Of equal lines, each gets a key of its own.
 */
export const openKeys = ({ env, accountId }: Ctx) => {
  const { apiKeySecrets } = settingsOf(env);
  // The oldest entry, so that a file that is sent again gets the same keys while the secret rotates.
  const apiKeySecret = apiKeySecrets.at(-1) ?? apiKeySecrets[0];
  /** By the hash of a line, because the lines can be long. */
  const copies = new Map<string, number>();

  return (value: LicenseLine): string => {
    if (value.license_key !== undefined) return value.license_key;
    const { copy, error: _, ...fields } = value;
    const content = JSON.stringify(fields);
    const hash = sha256(content);
    const number = copy ?? (copies.get(hash) ?? 0) + 1;
    copies.set(hash, number);
    const mac = createHmac('sha256', apiKeySecret).update(`import ${accountId} ${number} ${content}`);
    return licenseKeyOf(mac.digest());
  };
};
