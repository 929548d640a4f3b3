import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../../shared/crypto/hash.ts';
import type { StoreDelivery } from './provider.ts';

/** How old a signature may be, where it says when it was made. */
const TOLERANCE_SECONDS = 300;

/** Returns the HMAC-SHA256 of texts and bytes, one after the other. */
export const hmac = (
  key: string | Uint8Array,
  parts: (string | Uint8Array)[],
  encoding: 'hex' | 'base64',
): string => {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest(encoding);
};

/** Whether one of the signatures is one of those expected. Each is compared, whatever the others were. */
export const hasSignature = (sent: string[], expected: string[]): boolean => {
  const matches = expected.flatMap((right) => sent.map((one) => equalInConstantTime(one, right)));
  return matches.includes(true);
};

export const isRecent = (seconds: string | null, nowMs: number): boolean =>
  seconds !== null &&
  /^\d{1,12}$/.test(seconds) &&
  Math.abs(nowMs / 1_000 - Number(seconds)) <= TOLERANCE_SECONDS;

/** Checks a signature according to Standard Webhooks: https://www.standardwebhooks.com */
export const isStandardWebhook = ({ body, headers, nowMs }: StoreDelivery, keys: Uint8Array[]): boolean => {
  const id = headers.get('webhook-id');
  const timestamp = headers.get('webhook-timestamp');
  if (!id || !isRecent(timestamp, nowMs)) return false;
  const sent = (headers.get('webhook-signature') ?? '').split(' ').slice(0, 20);
  const expected = keys.map((key) => `v1,${hmac(key, [`${id}.${timestamp}.`, body], 'base64')}`);
  return hasSignature(sent, expected);
};

const PREFIX = 'whsec_';

/** The keys that a secret may mean: base64 after `whsec_`, and for a text without it also the text itself. */
export const standardKeys = (secret: string): Uint8Array[] =>
  (secret.startsWith(PREFIX)
    ? [Buffer.from(secret.slice(PREFIX.length), 'base64')]
    : [Buffer.from(secret, 'base64'), Buffer.from(secret)]
  ).filter(({ length }) => length > 0);
