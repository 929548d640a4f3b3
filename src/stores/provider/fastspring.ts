import * as z from 'zod';
import { fastspringApi } from './fastspring-api.ts';
import { toSpringFacts } from './fastspring-facts.ts';
import { springEvent } from './fastspring-objects.ts';
import { readingOf, readJson } from './parts.ts';
import type { Message, StoreDelivery, StoreProvider, StoreReading } from './provider.ts';
import { hasSignature, hmac } from './signatures.ts';

const isSigned = ({ body, headers }: StoreDelivery, secrets: string[]): boolean =>
  hasSignature(
    [headers.get('x-fs-signature') ?? ''],
    secrets.map((secret) => hmac(secret, [body], 'base64')),
  );

const events = z.object({ events: z.array(springEvent).min(1).max(1_000) });

/** Many events come in one body. They are taken together, and one that can't be read is told for all. */
const read = ({ body }: Message): StoreReading => {
  const { data: sent } = events.safeParse(readJson(body));
  if (!sent) return { kind: 'unreadable', problem: 'The body has no events of FastSpring.' };
  const type = [...new Set(sent.events.map((event) => event.type))].join(', ').slice(0, 200);
  return readingOf(type, () => {
    const told = sent.events.map((event) => toSpringFacts(event));
    return {
      facts: told.flatMap(({ facts }) => facts),
      asks: [...new Set(told.flatMap(({ asks = [] }) => asks))],
    };
  });
};

export const fastspring: StoreProvider = { secret: 'given', isSigned, read, api: fastspringApi };
