// A shop of the seller's own, as docs/stores/generic.md lets one report its purchases.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { Client } from './service.ts';

export const newShopSecret = () => `whsec_${randomBytes(24).toString('base64')}`;

/** Reports what has happened to an order. Returns the status of the answer. */
export const report = async (
  service: Client,
  webhookUrl: string,
  secret: string,
  body: Record<string, unknown>,
): Promise<number> => {
  const id = randomUUID();
  const timestamp = Math.floor(Date.now() / 1_000);
  const text = JSON.stringify({ id, ...body });
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64');
  const { pathname } = new URL(webhookUrl);
  const response = await fetch(service.origin + pathname, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    },
    body: text,
  });
  return response.status;
};
