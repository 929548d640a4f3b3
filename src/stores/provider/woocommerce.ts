import { readingOf, readJson } from './parts.ts';
import type { Message, StoreDelivery, StoreProvider, StoreReading } from './provider.ts';
import { hasSignature, hmac } from './signatures.ts';
import { woocommerceApi } from './woocommerce-api.ts';
import { toWooFacts } from './woocommerce-facts.ts';

const isSigned = ({ body, headers }: StoreDelivery, secrets: string[]): boolean =>
  hasSignature(
    [headers.get('x-wc-webhook-signature') ?? ''],
    secrets.map((secret) => hmac(secret, [body], 'base64')),
  );

/** When a webhook is saved, WooCommerce posts its number as a form, unsigned. Any other answer than 200 disables it. */
const isPing = ({ body }: StoreDelivery): boolean =>
  body.length <= 40 && /^webhook_id=\d{1,20}$/.test(new TextDecoder().decode(body));

/** Without its topic, a body could be of an order or of a subscription, which alone has a parent and a next payment. */
const topicOf = (topic: string | null, data: unknown): string => {
  if (topic !== null && topic !== '') return topic;
  const isObject = typeof data === 'object' && data !== null;
  if (isObject && 'next_payment_date_gmt' in data) return 'subscription.updated';
  return isObject && 'line_items' in data ? 'order.updated' : 'unknown';
};

const read = ({ body, topic }: Message): StoreReading => {
  const data = readJson(body);
  if (data === undefined) return { kind: 'unreadable', problem: 'The body is no JSON.' };
  const type = topicOf(topic, data).slice(0, 100);
  return readingOf(type, () => toWooFacts(type, data));
};

export const woocommerce: StoreProvider = {
  secret: 'given',
  topicHeader: 'x-wc-webhook-topic',
  isSigned,
  isPing,
  read,
  api: woocommerceApi,
};
