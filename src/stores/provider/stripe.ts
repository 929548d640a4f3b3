import { readingOf, readJson } from './parts.ts';
import type { Message, StoreDelivery, StoreProvider, StoreReading } from './provider.ts';
import { hasSignature, hmac, isRecent } from './signatures.ts';
import { stripeApi } from './stripe-api.ts';
import { stripeEvent, toStripeFacts } from './stripe-facts.ts';

// The seller's own Stripe account, with which this service's own billing has nothing to do.

const isSigned = ({ body, headers, nowMs }: StoreDelivery, secrets: string[]): boolean => {
  const parts = (headers.get('stripe-signature') ?? '').split(',').slice(0, 20);
  const valuesOf = (name: string) =>
    parts
      .map((part) => part.trim())
      .filter((part) => part.startsWith(`${name}=`))
      .map((part) => part.slice(name.length + 1));
  const [timestamp = null] = valuesOf('t');
  if (!isRecent(timestamp, nowMs)) return false;
  const expected = secrets.map((secret) => hmac(secret, [`${timestamp}.`, body], 'hex'));
  return hasSignature(valuesOf('v1'), expected);
};

const read = ({ body }: Message): StoreReading => {
  const { data: event } = stripeEvent.safeParse(readJson(body));
  if (!event) return { kind: 'unreadable', problem: 'The body is no event of Stripe.' };
  return readingOf(event.type, () => toStripeFacts(event));
};

export const stripe: StoreProvider = { secret: 'given', isSigned, read, api: stripeApi };
