import { createHmac } from 'node:crypto';
import type { StoreProviderName } from '../../src/shared/rules/stores.ts';

// Signs as each provider does. A form of Gumroad's isn't signed: its URL has a token.

const hmac = (secret: string | Buffer, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', secret).update(text).digest(encoding);

type Sign = (secret: string, body: string, topic: string) => Record<string, string>;

const seconds = () => String(Math.floor(Date.now() / 1_000));

const standardBy = (key: string | Buffer, body: string) => {
  const at = seconds();
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': at,
    'webhook-signature': `v1,${hmac(key, `msg_1.${at}.${body}`, 'base64')}`,
  };
};

const SIGNERS: Partial<Record<StoreProviderName, Sign>> = {
  stripe: (secret, body) => {
    const at = seconds();
    return { 'stripe-signature': `t=${at},v1=${hmac(secret, `${at}.${body}`, 'hex')}` };
  },
  paddle: (secret, body) => {
    const at = seconds();
    return { 'paddle-signature': `ts=${at};h1=${hmac(secret, `${at}:${body}`, 'hex')}` };
  },
  lemonsqueezy: (secret, body) => ({ 'x-signature': hmac(secret, body, 'hex') }),
  polar: standardBy,
  generic: (secret, body) => standardBy(Buffer.from(secret.replace('whsec_', ''), 'base64'), body),
  fastspring: (secret, body) => ({ 'x-fs-signature': hmac(secret, body, 'base64') }),
  woocommerce: (secret, body, topic) => ({
    'x-wc-webhook-signature': hmac(secret, body, 'base64'),
    'x-wc-webhook-topic': topic,
  }),
};

export const sign = (
  provider: StoreProviderName,
  secret: string,
  body: string,
  topic = '',
): Record<string, string> =>
  SIGNERS[provider]?.(secret, body, topic) ?? { 'content-type': 'application/x-www-form-urlencoded' };
