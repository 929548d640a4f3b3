// What the reference keeps of an answer: short lists, and the first characters of secrets and of addresses that differ by run.
import type { Values } from './fill.ts';

export interface KeptAnswer {
  status: number;
  body: unknown;
  values: Values;
}

const LONGEST_LIST = 2;
/** It always has 30 entries. */
const WHOLE = 'usage_by_day';

const SHOWN: [pattern: RegExp, text: string][] = [
  [/lk_live_\w{20,}/g, 'lk_live_…'],
  [/lks_[\w-]{20,}/g, 'lks_…'],
  [/whsec_[\w+/=]{20,}/g, 'whsec_…'],
  [/\b[A-Z2-7]{32}\b/g, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJFZERTQSJ9…'],
  [/person-\d+-[0-9a-f]{8}@example\.com/g, 'ada@example.com'],
  [/person-\d+-[0-9a-f]{8}%40example\.com/g, 'ada%40example.com'],
  [/http:\/\/[\w.]+:\d+\/hooks\/[0-9a-f-]{36}/g, 'https://shop.example.com/hooks/latchkey'],
  [/https:\/\/latchkey\.test/g, 'https://latchkey.example.com'],
];

const shown = (text: string): string =>
  SHOWN.reduce((changed, [pattern, replacement]) => changed.replace(pattern, replacement), text);

const shorten = (value: unknown, name?: string): unknown => {
  if (typeof value === 'string') return shown(value);
  if (Array.isArray(value))
    return value.slice(0, name === WHOLE ? undefined : LONGEST_LIST).map((item) => shorten(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shorten(field, name)]));
};

export const kept = ({ status, body }: { status: number; body: unknown }, values: Values): KeptAnswer => ({
  status,
  body: shorten(body),
  values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shown(value)])),
});
