import * as z from 'zod';
import { paddleApi } from './paddle-api.ts';
import { toPaddleFacts } from './paddle-facts.ts';
import { readingOf, readJson } from './parts.ts';
import type { StoreDelivery, Message, StoreReading, StoreProvider } from './provider.ts';
import { hasSignature, hmac, isRecent } from './signatures.ts';

// Paddle Billing. Paddle Classic signs with RSA and isn't supported.

const isSigned = ({ body, headers, nowMs }: StoreDelivery, secrets: string[]): boolean => {
  const parts = (headers.get('paddle-signature') ?? '').split(';').slice(0, 20);
  const valuesOf = (name: string) =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
  const [timestamp = null] = valuesOf('ts');
  if (!isRecent(timestamp, nowMs)) return false;
  const expected = secrets.map((secret) => hmac(secret, [`${timestamp}:`, body], 'hex'));
  return hasSignature(valuesOf('h1'), expected);
};

const event = z.object({ event_type: z.string().min(1).max(100), data: z.unknown().optional() });

const read = ({ body }: Message): StoreReading => {
  const { data: sent } = event.safeParse(readJson(body));
  if (!sent) return { kind: 'unreadable', problem: 'The body is no event of Paddle Billing.' };
  return readingOf(sent.event_type, () => toPaddleFacts(sent.event_type, sent.data));
};

export const paddle: StoreProvider = { secret: 'given', isSigned, read, api: paddleApi };
