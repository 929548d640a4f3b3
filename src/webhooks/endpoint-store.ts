import type { EventName } from '../shared/rules/events.ts';
import type { Endpoint } from './outbox-tables.ts';

/** The few endpoints of an account, in memory and on disk. */
export const openEndpoints = (sql: SqlStorage) => {
  const endpoints = new Map<string, Endpoint>();
  for (const { value } of sql.exec<{ value: string }>('SELECT value FROM endpoints ORDER BY id')) {
    const endpoint = JSON.parse(value) as Endpoint;
    endpoints.set(endpoint.id, endpoint);
  }
  const enabled = () => [...endpoints.values()].filter(({ disabledReason }) => disabledReason === null);

  return {
    get: (id: string): Endpoint | null => endpoints.get(id) ?? null,
    newestFirst: (): Endpoint[] => [...endpoints.values()].toReversed(),
    enabled,
    count: () => endpoints.size,

    subscribedTo: (name: EventName): Endpoint[] =>
      enabled().filter(({ events }) => events === null || events.includes(name)),

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
