import type { SealingRing } from '../crypto/sealing.ts';
import { type Limits, OWN_LIMITS, PAID_PLANS, type PaidPlan } from '../rules/plans.ts';

// Each function turns the text of a variable into its value. What it throws goes on after the variable's name, and
// never contains the text.

export class InvalidText extends Error {}

export type ApiKeySecrets = readonly [string, ...string[]];

const MIN_SECRET_LENGTH = 32;

const entriesOf = (text: string) => text.split(',').map((entry) => entry.trim());

export const parseApiKeySecrets = (text: string): ApiKeySecrets => {
  const [first = '', ...others] = entriesOf(text);
  const ring: ApiKeySecrets = [first, ...others];
  const short = ring.find(({ length }) => length < MIN_SECRET_LENGTH);
  if (short !== undefined)
    throw new InvalidText(
      `is too short: each entry needs at least ${MIN_SECRET_LENGTH} random characters, and one has ${short.length}.`,
    );
  if (new Set(ring).size < ring.length) throw new InvalidText('has the same entry twice.');
  return ring;
};

export const parseSealingKeys = (text: string): SealingRing => {
  const keys = new Map<string, string>();
  for (const entry of entriesOf(text)) {
    const match = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry);
    if (!match)
      throw new InvalidText(
        'must be a comma-separated list of "name:key", where each key is 32 random bytes in base64.',
      );
    const [, name = '', key = ''] = match;
    if (keys.has(name)) throw new InvalidText(`names the key "${name}" twice.`);
    keys.set(name, key);
  }
  const [current = ''] = keys.keys();
  return { current, keys };
};

/** Returns the secrets from which the keys that sign tokens follow, the current one first. */
export const parseSigningKeys = (text: string): readonly string[] => {
  const ring = entriesOf(text);
  if (!ring.every((entry) => /^[A-Za-z0-9+/]{43}=$/.test(entry)))
    throw new InvalidText('must be a comma-separated list of keys, each 32 random bytes in base64.');
  if (new Set(ring).size < ring.length) throw new InvalidText('has the same key twice.');
  return ring;
};

export type Prices = Readonly<Record<PaidPlan, string>>;

/** Returns the provider's id of the price of each plan. */
export const parsePrices = (text: string): Prices => {
  const prices = new Map<string, string>();
  for (const entry of entriesOf(text)) {
    const [, plan = '', price = ''] = /^(\w+):(price_\w+)$/.exec(entry) ?? [];
    prices.set(plan, price);
  }
  const of = (plan: PaidPlan) => prices.get(plan);
  const [pro, scale] = [of('pro'), of('scale')];
  if (prices.size !== PAID_PLANS.length || pro === undefined || scale === undefined || pro === scale)
    throw new InvalidText('must be a comma-separated list of "plan:price", with a price for each paid plan.');
  return { pro, scale };
};

/** The names of limits, and the largest that the platform has room for. */
const LIMITS = {
  api_limit: ['apiLimit', Number.MAX_SAFE_INTEGER],
  license_limit: ['licenseLimit', 9_000_000],
  storage_limit: ['storageBytes', Number.MAX_SAFE_INTEGER],
  changes_per_day: ['changesPerDay', Number.MAX_SAFE_INTEGER],
  calls_per_second: ['callsPerSecond', OWN_LIMITS.callsPerSecond],
  account_calls_per_second: ['accountCallsPerSecond', OWN_LIMITS.accountCallsPerSecond],
} as const satisfies Record<string, readonly [keyof Limits, number]>;

/** Returns the limits of every account. Those that aren't named are the usual ones. */
export const parseLimits = (text: string): Limits => {
  const limits = { ...OWN_LIMITS };
  for (const entry of entriesOf(text)) {
    const [, name = '', value = ''] = /^(\w+):(\d+)$/.exec(entry) ?? [];
    const [limit, most] = Object.entries(LIMITS).find(([known]) => known === name)?.[1] ?? [];
    if (!limit || Number(value) < 1 || Number(value) > most)
      throw new InvalidText(
        `must be a comma-separated list of "name:number", with names out of ${Object.keys(LIMITS).join(', ')}, and rates of at most ${OWN_LIMITS.callsPerSecond}.`,
      );
    limits[limit] = Number(value);
  }
  return limits;
};

export const parseToken = (text: string): string => {
  if (text.length < MIN_SECRET_LENGTH)
    throw new InvalidText(
      `is too short: it needs at least ${MIN_SECRET_LENGTH} random characters and has ${text.length}.`,
    );
  return text;
};

export const parseText = (text: string): string => text;

export const parseUrl = (text: string): URL => {
  if (!URL.canParse(text)) throw new InvalidText('must be a URL.');
  return new URL(text);
};

export const parseOrigin = (text: string): string => {
  const { origin, href } = parseUrl(text);
  if (href !== `${origin}/` || !/^https?:/.test(origin))
    throw new InvalidText('must be an origin, such as https://licenses.example.com.');
  return origin;
};

/** Parses one of several words, each of which stands for a value. */
export const oneOf =
  <T>(values: Record<string, T>) =>
  (text: string): T => {
    const found = Object.entries(values).find(([word]) => word === text);
    if (!found) {
      const words = Object.keys(values).map((word) => `"${word}"`);
      throw new InvalidText(`must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`);
    }
    return found[1];
  };

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidText(`must be a whole number from ${min} to ${max}.`);
    return value;
  };
