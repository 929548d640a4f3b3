import type { EventName } from '../shared/rules/events.ts';
import type { Endpoint } from './outbox-tables.ts';
import { fromStored, type StoredEndpoint } from './stored-endpoint.ts';

/** Applies changes to an endpoint. A new URL starts without the failures of the earlier URL. */
export const withChanges = (endpoint: Endpoint, fields: Partial<Endpoint>): Endpoint => {
  const changed = { ...endpoint, ...fields };
  if (changed.url === endpoint.url) return changed;
  return { ...changed, urlRevision: endpoint.urlRevision + 1, failingSinceMs: null };
};

/** Stores an account's webhook endpoints. There are few, so all of them are also in memory. */
export const openEndpoints = (sql: SqlStorage) => {
  const endpoints = new Map<string, Endpoint>();
  for (const { value } of sql.exec<{ value: string }>('SELECT value FROM endpoints ORDER BY id')) {
    const endpoint = fromStored(JSON.parse(value) as StoredEndpoint);
    endpoints.set(endpoint.id, endpoint);
  }
  const listEnabled = () => [...endpoints.values()].filter(({ disabledReason }) => disabledReason === null);

  return {
    get: (id: string): Endpoint | null => endpoints.get(id) ?? null,
    listNewestFirst: (): Endpoint[] => [...endpoints.values()].toReversed(),
    listEnabled,
    count: () => endpoints.size,

    listSubscribedTo: (name: EventName): Endpoint[] =>
      listEnabled().filter(({ events }) => events === null || events.includes(name)),

    save: (endpoint: Endpoint) => {
      endpoints.set(endpoint.id, endpoint);
      sql.exec(
        'INSERT INTO endpoints (id, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
        endpoint.id,
        JSON.stringify(endpoint),
      );
    },

    remove: (id: string) => {
      endpoints.delete(id);
      sql.exec('DELETE FROM endpoints WHERE id = ?', id);
    },
  };
};
