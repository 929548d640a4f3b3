import { expect } from 'vitest';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import type {
  ApiAccess,
  ApiRequest,
  StoreDelivery,
  StoreProvider,
} from '../../src/stores/provider/provider.ts';

// Drives the module of one provider, without the rest of the service.

const NOW_MS = Date.parse('2027-01-10T12:00:10Z');

export const deliver = (
  body: string,
  headers: Record<string, string> = {},
  { token = null, nowMs = NOW_MS }: { token?: string | null; nowMs?: number } = {},
): StoreDelivery => ({ body: new TextEncoder().encode(body), headers: new Headers(headers), token, nowMs });

const toText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

/** Reads a body, as it is or as JSON. */
export const readBody = (provider: StoreProvider, body: unknown, topic: string | null = null) =>
  provider.read({ body: toText(body), topic });

/** Returns the facts of a body that has some. */
export const factsOf = (provider: StoreProvider, body: unknown, topic: string | null = null): StoreFact[] => {
  const reading = readBody(provider, body, topic);
  if (reading.kind !== 'facts') return expect.fail(`The body was ${JSON.stringify(reading)}`);
  return reading.facts;
};

interface Call extends ApiRequest {
  path: string;
}

/** A double of a provider's API: what it answers, by the beginning of the path. The longest one that fits counts. */
export const openApi = (key: string, answers: Record<string, unknown>) => {
  const calls: Call[] = [];
  const access: ApiAccess = {
    key,
    call: (path, request = {}) => {
      calls.push({ path, ...request });
      const [name] = Object.keys(answers)
        .filter((start) => path.startsWith(start))
        .toSorted((a, b) => b.length - a.length);
      if (name === undefined) return Promise.reject(new Error(`The double has no ${path}`));
      const answer = answers[name];
      return Promise.resolve(
        typeof answer === 'function' ? (answer as (path: string) => unknown)(path) : answer,
      );
    },
  };
  return { access, calls };
};

/** Returns the facts of all pages. */
export const listAll = async (provider: StoreProvider, access: ApiAccess, sinceMs: number) => {
  const facts: StoreFact[] = [];
  const asks: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page = await provider.api!.listRecent(access, sinceMs, cursor);
    facts.push(...page.facts);
    asks.push(...(page.asks ?? []));
    cursor = page.next;
    expect(++pages).toBeLessThan(20);
  } while (cursor !== null);
  return { facts, asks, pages };
};
