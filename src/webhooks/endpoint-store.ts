import type { EventName } from '../shared/rules/events.ts';
import { KEEP_MISSED_MS, MAX_SECRETS, MAX_SIGNATURES, OLD_SECRET_MS } from '../shared/rules/webhooks.ts';
import type { Endpoint, Health } from './outbox-tables.ts';

/** The state of an endpoint that is new, or that starts again. */
export const NO_FAILURES: Health = { failingSinceMs: null, heldUntilMs: null, goneAtMs: null };

/** What endpoints of early versions lack. */
const LATER_FIELDS = { ...NO_FAILURES, disabledAtMs: null };

/** Applies changes to an endpoint. A new URL starts without the failures of the earlier URL. */
export const withChanges = (endpoint: Endpoint, fields: Partial<Endpoint>): Endpoint => {
  const changed = { ...endpoint, ...fields };
  if (changed.url === endpoint.url) return changed;
  return { ...changed, urlRevision: endpoint.urlRevision + 1, ...NO_FAILURES };
};

const isKeptFor = ({ disabledReason, disabledAtMs }: Endpoint, nowMs: number): boolean =>
  disabledReason === null || (disabledAtMs !== null && nowMs < disabledAtMs + KEEP_MISSED_MS);

/** Whether the endpoint gets the event, or may ask for it later because it is disabled. */
export const isSubscribedTo = (endpoint: Endpoint, name: EventName, nowMs: number): boolean =>
  isKeptFor(endpoint, nowMs) && (endpoint.events === null || endpoint.events.includes(name));

const unexpired = ({ earlierSecrets }: Endpoint, nowMs: number) =>
  earlierSecrets.slice(1 - MAX_SIGNATURES).filter(({ untilMs }) => nowMs < untilMs);

/** Returns from when on the secret may be rotated, so that no more than MAX_SECRETS sign. The time may have passed. */
export const nextRotationMs = ({ earlierSecrets }: Endpoint): number =>
  earlierSecrets.at(1 - MAX_SECRETS)?.untilMs ?? -Infinity;

/** Replaces the secret. The replaced secret signs for another day, and expired secrets are dropped. */
export const withSecret = (endpoint: Endpoint, sealedSecret: string, nowMs: number): Endpoint => {
  const replaced = { sealedSecret: endpoint.sealedSecret, untilMs: nowMs + OLD_SECRET_MS };
  return {
    ...endpoint,
    sealedSecret,
    earlierSecrets: [...unexpired(endpoint, nowMs), replaced],
    updatedAtMs: nowMs,
  };
};

/** Returns the endpoint with its secrets sealed again, or null if none of them was. */
const withResealed = (endpoint: Endpoint, resealed: ReadonlyMap<string, string>): Endpoint | null => {
  const reseal = (sealed: string) => resealed.get(sealed) ?? sealed;
  const secrets = [endpoint, ...endpoint.earlierSecrets].map(({ sealedSecret }) => sealedSecret);
  if (!secrets.some((sealed) => resealed.has(sealed))) return null;
  return {
    ...endpoint,
    sealedSecret: reseal(endpoint.sealedSecret),
    earlierSecrets: endpoint.earlierSecrets.map((earlier) => ({
      ...earlier,
      sealedSecret: reseal(earlier.sealedSecret),
    })),
  };
};

/** Returns the sealed secrets that sign now, the current secret first. */
export const signingSecrets = (endpoint: Endpoint, nowMs: number): string[] => [
  endpoint.sealedSecret,
  ...unexpired(endpoint, nowMs).map(({ sealedSecret }) => sealedSecret),
];

/** Returns when the last earlier secret stops signing, or null if none signs. */
export const earlierSecretsEndMs = (endpoint: Endpoint, nowMs: number): number | null => {
  const ends = unexpired(endpoint, nowMs).map(({ untilMs }) => untilMs);
  return ends.length === 0 ? null : Math.max(...ends);
};

/** Stores an account's webhook endpoints. There are few, so all of them are also in memory. */
export const openEndpoints = (sql: SqlStorage) => {
  const endpoints = new Map<string, Endpoint>();
  for (const { value } of sql.exec<{ value: string }>('SELECT value FROM endpoints ORDER BY id')) {
    const stored = JSON.parse(value) as Endpoint & Partial<typeof LATER_FIELDS>;
    const endpoint = { ...LATER_FIELDS, ...stored };
    endpoints.set(endpoint.id, endpoint);
  }
  const save = (endpoint: Endpoint) => {
    endpoints.set(endpoint.id, endpoint);
    sql.exec(
      'INSERT INTO endpoints (id, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      endpoint.id,
      JSON.stringify(endpoint),
    );
  };
  const listEnabled = () => [...endpoints.values()].filter(({ disabledReason }) => disabledReason === null);

  return {
    get: (id: string): Endpoint | null => endpoints.get(id) ?? null,
    listNewestFirst: (): Endpoint[] => [...endpoints.values()].toReversed(),
    listEnabled,
    count: () => endpoints.size,

    listSubscribedTo: (name: EventName, nowMs: number): Endpoint[] =>
      [...endpoints.values()].filter((endpoint) => isSubscribedTo(endpoint, name, nowMs)),

    save,

    /** Replaces sealed secrets by the same secrets under another sealing key. */
    reseal: (resealed: ReadonlyMap<string, string>) => {
      for (const endpoint of endpoints.values()) {
        const changed = withResealed(endpoint, resealed);
        if (changed) save(changed);
      }
    },

    remove: (id: string) => {
      endpoints.delete(id);
      sql.exec('DELETE FROM endpoints WHERE id = ?', id);
    },
  };
};

export type Endpoints = ReturnType<typeof openEndpoints>;
