import * as z from 'zod';
import { type ApiKeyRow } from '../db/schema.ts';
import {
  DEFAULT_OVERLAP_HOURS,
  KEY_SCOPES,
  MAX_KEY_NAME_LENGTH,
  MAX_OVERLAP_HOURS,
} from '../shared/rules/api-keys.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { canonicalBlock, MAX_ALLOWED_IPS } from '../shared/rules/ip-addresses.ts';
import { text } from '../shared/schemas/fields.ts';
import { listOf } from '../shared/schemas/lists.ts';

/** With an offset, a time in 9999 can be in the year 10000 in UTC, which ISO 8601 can't write with four digits. */
const MAX_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Must be in the future, too. The create checks it, because a repeat with an Idempotency-Key may come later. */
const expiryTime = z.iso
  .datetime({ offset: true })
  .refine((time) => Date.parse(time) <= MAX_TIME_MS, 'must be before the year 10000');

const ipBlock = z
  .string()
  .trim()
  .max(64)
  .refine((text) => canonicalBlock(text) !== null, 'must be an IP address or a CIDR block')
  .overwrite((text) => canonicalBlock(text) ?? text)
  .meta({ examples: ['192.0.2.0/24'] });

export const createApiKeyInput = z
  .strictObject({
    name: text(MAX_KEY_NAME_LENGTH).nullish(),
    scope: z.enum(KEY_SCOPES).default('full').meta({
      description:
        'A key with scope `verify` can only make the four calls of an application (verify, activate, heartbeat, and deactivate), so that it can ship inside one.',
    }),
    expires_at: expiryTime
      .nullish()
      .meta({ description: 'The time from which the key is refused. By default, a key doesn’t expire.' }),
    allowed_ips: z
      .array(ipBlock)
      .min(1)
      .max(MAX_ALLOWED_IPS)
      .overwrite((ips) => [...new Set(ips)])
      .nullish()
      .meta({
        description:
          'IPv4 and IPv6 addresses and CIDR blocks. From other addresses, the key is refused. Only for keys with scope `full`. By default, a key can be used from everywhere.',
      }),
  })
  .refine(({ scope, allowed_ips: ips }) => scope === 'full' || !ips, {
    path: ['allowed_ips'],
    message: 'is only possible with scope full',
  })
  .meta({ id: 'CreateApiKey' });

export const rotateApiKeyInput = z
  .strictObject({
    overlap_hours: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_HOURS)
      .default(DEFAULT_OVERLAP_HOURS)
      .meta({ description: 'How long the old key keeps working. With 0, it stops at once.' }),
  })
  .meta({ id: 'RotateApiKey' });

const apiKeyFields = {
  id: z.string().meta({ examples: ['key_0VJ1mKq7XbT2c9LpQwZa'] }),
  name: z.string().nullable(),
  scope: z.enum(KEY_SCOPES),
  masked_key: z.string().meta({ examples: ['lk_live_0VJ1********Xk2d'] }),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable(),
  allowed_ips: z.array(z.string()).nullable(),
};

export const apiKeyBody = z.object(apiKeyFields).meta({ id: 'ApiKey' });
export const revealedApiKeyBody = z
  .object({ ...apiKeyFields, api_key: z.string().meta({ description: 'The complete API key.' }) })
  .meta({ id: 'RevealedApiKey' });
export const apiKeyListBody = listOf(apiKeyBody).meta({ id: 'ApiKeyList' });
export const deletedApiKeyBody = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedApiKey' });

export const toApiKey = (row: ApiKeyRow, lastUsedMs: number | null): z.infer<typeof apiKeyBody> => ({
  id: row.id,
  name: row.name,
  scope: row.scope,
  masked_key: row.maskedKey,
  created_at: isoTime(row.createdAt),
  last_used_at: isoTimeOrNull(lastUsedMs),
  expires_at: isoTimeOrNull(row.expiresAt),
  allowed_ips: row.allowedIps,
});

export const toRevealedApiKey = (
  row: ApiKeyRow,
  apiKey: string,
  lastUsedMs: number | null,
): z.infer<typeof revealedApiKeyBody> => ({ ...toApiKey(row, lastUsedMs), api_key: apiKey });
