import * as z from 'zod';
import { equalInConstantTime } from '../../shared/crypto/hash.ts';
import { gumroadApi } from './gumroad-api.ts';
import { optionalTime, readJson } from './parts.ts';
import type { Message, StoreDelivery, StoreProvider, StoreReading } from './provider.ts';

// Gumroad signs nothing. The path has a token, and whatever a ping says is asked of the API before it is believed.

const isSigned = ({ token }: StoreDelivery, secrets: string[]): boolean =>
  token !== null && secrets.map((secret) => equalInConstantTime(secret, token)).includes(true);

/** A ping is a form. A seller can choose JSON instead. */
const fieldsOf = (body: string): [name: string, value: string][] => {
  if (!body.startsWith('{')) return [...new URLSearchParams(body)];
  const { data } = z.record(z.string(), z.unknown()).safeParse(readJson(body));
  return Object.entries(data ?? {}).map(([name, value]) => [
    name,
    Array.isArray(value) ? String(value[0]) : String(value),
  ]);
};

const saleId = z.string().min(1).max(200);

const read = ({ body }: Message): StoreReading => {
  const fields = fieldsOf(body);
  const valueOf = (...names: string[]) =>
    fields.find(([name]) => names.includes(name.replace(/\[\d*\]$/, '')))?.[1];
  const type = valueOf('resource_name')?.slice(0, 100) || 'sale';
  // What becomes of a membership names its sales, each of which says it.
  const { data: sale } = saleId.safeParse(valueOf('sale_id', 'purchase_ids'));
  if (sale === undefined) return { kind: 'unreadable', problem: 'The body names no sale.' };
  const { data: endedMs } = optionalTime.safeParse(valueOf('ended_at'));
  const isTest = valueOf('test') === 'true';
  const about = endedMs === undefined ? (isTest ? 'test-' : '') : `ended-at-${endedMs}-`;
  return { kind: 'facts', type, facts: [], asks: [`${about}sale/${sale}`] };
};

export const gumroad: StoreProvider = {
  secret: 'made',
  needsApi: true,
  isSigned,
  read,
  api: gumroadApi,
};
