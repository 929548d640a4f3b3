import { expect, test } from 'vitest';
import {
  MAX_EMAIL_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
} from '../../src/shared/rules/accounts.ts';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../src/shared/rules/api-keys.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { MAX_ALLOWED_IPS } from '../../src/shared/rules/ip-addresses.ts';
import { LICENSE_FIELDS, TEXT_FIELDS } from '../../src/shared/rules/license-fields.ts';
import * as licenses from '../../src/shared/rules/licenses.ts';
import { GRACE_DAYS, OWN_LIMITS, PLANS } from '../../src/shared/rules/plans.ts';
import * as terms from '../../src/shared/rules/terms.ts';
import * as transfers from '../../src/shared/rules/transfer-limits.ts';
import * as webhooks from '../../src/shared/rules/webhooks.ts';

const [docs = ''] = Object.values(
  import.meta.glob<string>('../../docs/limits.md', { query: '?raw', import: 'default', eager: true }),
);

const count = (value: number) => value.toLocaleString('en-US');
const days = (ms: number) => ms / DAY_MS;

const rowsOf = (heading: string): string[] => {
  const section = docs.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| .* \| (.*) \|$/gm)].slice(1).map(([, limit = '']) => limit);
};

test('docs/limits.md has the sizes that the service accepts', () => {
  expect(rowsOf('Sizes')).toEqual([
    `64 KiB; ${transfers.MAX_IMPORT_BYTES / 1024 ** 2} MiB`,
    `${count(transfers.MAX_LINE_LENGTH)} characters; ${transfers.MAX_COLUMNS}`,
    '1 to 100, 50 unless you say',
    `${licenses.MIN_LICENSE_KEY_LENGTH} to ${licenses.MAX_LICENSE_KEY_LENGTH} of \`A-Z a-z 0-9 - _ .\``,
    `${TEXT_FIELDS.map((field) => LICENSE_FIELDS[field].maxLength).join('; ')} characters`,
    `${count(licenses.MAX_METADATA_BYTES)} bytes of JSON, flat`,
    count(licenses.MAX_DURATION_DAYS),
    `${terms.MAX_PRODUCT_CODE_LENGTH}; ${terms.MAX_PRODUCT_NAME_LENGTH} characters`,
    `${terms.MAX_ENTITLEMENTS}, in ${count(terms.MAX_ENTITLEMENTS_BYTES)} bytes of JSON`,
    `${licenses.MAX_REASON_LENGTH} characters`,
    `The latest ${licenses.MAX_HISTORY_CHANGES} changes, 64 KiB; the latest ${licenses.MAX_HISTORY_CHANGES}`,
    '255 characters, for 24 hours',
    `${MAX_NAME_LENGTH}; ${MAX_EMAIL_LENGTH}; ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
    String(MAX_ALLOWED_IPS),
    `${count(webhooks.MAX_URL_LENGTH)} characters`,
    count(webhooks.MAX_PENDING),
  ]);
});

test('docs/limits.md has the bounds of the terms', () => {
  expect(rowsOf('Terms')).toEqual([
    count(terms.MAX_SEATS),
    `${terms.MIN_LEASE_SECONDS} to ${count(terms.MAX_LEASE_SECONDS)} (${days(terms.MAX_LEASE_SECONDS * 1_000)} days)`,
    `${terms.MAX_OFFLINE_DAYS}, ${terms.DEFAULT_OFFLINE_DAYS} unless you say`,
    String(terms.MAX_GRACE_DAYS),
    `Counted within ${terms.TRANSFER_DAYS} days`,
  ]);
});

test('docs/limits.md has the times after which something is tried again or forgotten', () => {
  const retries = webhooks.RETRY_DELAYS_MS.length;
  const retried = Math.round(days(webhooks.RETRY_DELAYS_MS.reduce((sum, ms) => sum + ms, 0)));
  expect(rowsOf('Times')).toEqual([
    `${webhooks.RETENTION_DAYS} days`,
    `${days(webhooks.KEEP_MISSED_MS)} days`,
    `${retries} times, the last after some ${retried} days`,
    `${days(webhooks.DISABLE_AFTER_MS)} days`,
    `${webhooks.OLD_SECRET_MS / HOUR_MS} hours`,
    `${DEFAULT_OVERLAP_HOURS} hours unless you say, at most ${MAX_OVERLAP_HOURS}`,
    `${GRACE_DAYS} more days`,
  ]);
});

test('a service that sells no plans has the limits that docs/limits.md says', () => {
  expect(OWN_LIMITS).toEqual({ ...PLANS.scale, apiLimit: 1e9, storageBytes: 100e9 });
});
