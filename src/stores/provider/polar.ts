import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { readingOf, readJson } from './parts.ts';
import { polarApi } from './polar-api.ts';
import { toPolarFacts } from './polar-facts.ts';
import type { Message, StoreProvider, StoreReading } from './provider.ts';
import { isStandardWebhook } from './signatures.ts';

const event = z.object({ type: z.string().min(1).max(100), data: z.unknown().optional() });

const read = ({ body }: Message): StoreReading => {
  const { data: sent } = event.safeParse(readJson(body));
  if (!sent) return { kind: 'unreadable', problem: 'The body is no event of Polar.' };
  return readingOf(sent.type, () => toPolarFacts(sent.type, sent.data));
};

export const polar: StoreProvider = {
  secret: 'given',
  /** Unlike elsewhere with Standard Webhooks, the key is the bytes of the whole secret, with its prefix. */
  isSigned: (delivery, secrets) =>
    isStandardWebhook(
      delivery,
      secrets.map((secret) => Buffer.from(secret)),
    ),
  read,
  api: polarApi,
};
