import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';

// Standard Webhooks, byte for byte: https://www.standardwebhooks.com

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string =>
  SECRET_PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('base64');

const signature = (secret: string, signed: string): string => {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
};

export interface Signable {
  /** The event's id, the same over retries, resends and duplicates. */
  id: string;
  timestampSeconds: number;
  payload: string;
}

/** One signature a secret, so that receivers may change to a new one at their leisure. */
export const signatureHeaders = (secrets: string[], { id, timestampSeconds, payload }: Signable) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': secrets
    .map((secret) => signature(secret, `${id}.${timestampSeconds}.${payload}`))
    .join(' '),
});
