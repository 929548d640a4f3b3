import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';

// Signatures according to Standard Webhooks: https://www.standardwebhooks.com

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string =>
  SECRET_PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('base64');

const signature = (secret: string, content: string): string => {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
};

export interface Signable {
  /** The event's id. Retries, resends and duplicates have the same id. */
  id: string;
  timestampSeconds: number;
  payload: string;
}

/** Returns the headers with one signature per secret, so that receivers can switch secrets without downtime. */
export const signatureHeaders = (secrets: string[], { id, timestampSeconds, payload }: Signable) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': secrets
    .map((secret) => signature(secret, `${id}.${timestampSeconds}.${payload}`))
    .join(' '),
});
