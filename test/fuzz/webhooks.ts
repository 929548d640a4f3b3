import * as fc from 'fast-check';
import { expect } from 'vitest';
import { webhookUrlProblem } from '../../src/webhooks/url-rules.ts';
import type { Customer } from '../support/client.ts';

// Webhooks make the service send requests. Fuzzed webhooks may only call this machine.

const REJECTED_URLS = [
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
    fc.constantFrom(...REJECTED_URLS),
  );

const PUBLIC_HOSTS_ONLY = { ownHosts: [], allowLoopback: false };

/** Returns whether a body has a URL that the service would accept on another machine. */
export const hasPublicUrl = (text: string): boolean => {
  try {
    const { url } = JSON.parse(text) as { url?: unknown };
    return typeof url === 'string' && webhookUrlProblem(url, PUBLIC_HOSTS_ONLY) === null;
  } catch {
    return false;
  }
};

/** Creates webhooks that have a delivery each, and returns the ids of both. */
export const createWebhooks = async ({ asSession }: Customer, url: string): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    const { body: webhook } = await asSession('POST', '/api/webhooks', { url });
    const { body: delivery } = await asSession('POST', `/api/webhooks/${webhook.id}/test`);
    ids.push(webhook.id, delivery.id);
  }
  return ids;
};

/** Checks that no webhook that fuzzing has created calls another machine. */
export const expectOnlyLocalWebhooks = async ({ asKey }: Customer) => {
  const { body } = await asKey('GET', '/api/webhooks');
  const hosts = new Set(body.data.map((webhook: { url: string }) => new URL(webhook.url).hostname));
  expect([...hosts].filter((host) => host !== '127.0.0.1')).toEqual([]);
};
