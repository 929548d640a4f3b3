import * as z from 'zod';
import { lemonsqueezyApi } from './lemonsqueezy-api.ts';
import { resource, toLemonFacts } from './lemonsqueezy-facts.ts';
import { readingOf, readJson } from './parts.ts';
import type { Message, StoreDelivery, StoreProvider, StoreReading } from './provider.ts';
import { hasSignature, hmac } from './signatures.ts';

const isSigned = ({ body, headers }: StoreDelivery, secrets: string[]): boolean =>
  hasSignature(
    [headers.get('x-signature') ?? ''],
    secrets.map((secret) => hmac(secret, [body], 'hex')),
  );

const event = z.object({ meta: z.object({ event_name: z.string().min(1).max(100) }), data: resource });

const read = ({ body }: Message): StoreReading => {
  const { data: sent } = event.safeParse(readJson(body));
  if (!sent) return { kind: 'unreadable', problem: 'The body is no event of Lemon Squeezy.' };
  const name = sent.meta.event_name;
  return readingOf(name, () => ({
    ...toLemonFacts(sent.data),
    ...(name.endsWith('_refunded') && { reachesBack: true }),
  }));
};

export const lemonsqueezy: StoreProvider = { secret: 'given', isSigned, read, api: lemonsqueezyApi };
