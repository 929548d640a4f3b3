import * as fc from 'fast-check';
import { webhookUrlProblem } from '../../src/webhooks/url-rules.ts';
import type { Customer } from '../support/client.ts';

// Webhooks are the one thing of the service that calls somebody: fuzzed ones call this machine or nobody.

const REFUSED = [
  'https://127.0.0.1/',
  'http://example.com/',
  'https://0x7f.1/',
  'https://[::ffff:127.0.0.1]/',
  'https://10.0.0.1:443/hooks',
  'https://user:word@example.org/',
  'https://latchkey.test/',
  'https://localhost./',
  'ftp://example.org/',
  'javascript:alert(1)',
  'https://',
];

export const webhookUrl = (url: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(url, `${url}?a=b`, `${url}/💣`) },
    fc.constantFrom(...REFUSED),
  );

const PUBLIC_HOSTS_ONLY = { ownHosts: [], allowLoopback: false };

/** A body that would add a webhook to some host out there. */
export const leadsOutside = (text: string): boolean => {
  try {
    const { url } = JSON.parse(text) as { url?: unknown };
    return typeof url === 'string' && webhookUrlProblem(url, PUBLIC_HOSTS_ONLY) === null;
  } catch {
    return false;
  }
};

/** New ones, each with a delivery, instead of those that may be disabled or gone by now. */
export const addWebhooks = async ({ asSession }: Customer, url: string): Promise<string[]> => {
  const { body } = await asSession('GET', '/api/webhooks');
  for (const { id } of body.data) await asSession('DELETE', `/api/webhooks/${id}`);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    const { body: webhook } = await asSession('POST', '/api/webhooks', { url });
    const { body: delivery } = await asSession('POST', `/api/webhooks/${webhook.id}/test`);
    ids.push(webhook.id, delivery.id);
  }
  return ids;
};
