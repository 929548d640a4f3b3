import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import type { AuditAction } from '../../shared/rules/audit.ts';
import { api, call, service } from './client.ts';
import { cursorOf, PAGE, paged } from './queries.ts';

// The queries of the settings and the sign-in pages.

export type SessionBody = InferResponseType<typeof api.sessions.$get>['data'][number];
type AuditPage = InferResponseType<(typeof api)['audit-log']['$get']>;
export type AuditEntry = AuditPage['data'][number];

/** Whether the service sends email, and who can register. It changes only with the service's configuration. */
export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => call(service.health.$get()),
  staleTime: Infinity,
});

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => call(api.sessions.$get({ query: { limit: '100' } })),
});

export interface AuditFilter {
  action?: AuditAction | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** Fetches a page of entries. A page of one action can be empty before the end of the list; it is skipped. */
const auditPage = async (
  query: AuditFilter & { limit: string; cursor?: string },
  signal: AbortSignal,
): Promise<AuditPage> => {
  const page = await call(api['audit-log'].$get({ query }, { init: { signal } }));
  return page.data.length > 0 || page.next_cursor === null
    ? page
    : auditPage({ ...query, cursor: page.next_cursor }, signal);
};

export const auditLogQuery = ({ action, from, to }: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit-log', action ?? '', from ?? '', to ?? ''],
    queryFn: ({ pageParam, signal }) =>
      auditPage(
        {
          limit: PAGE,
          ...cursorOf(pageParam),
          ...(action && { action }),
          ...(from && { from }),
          ...(to && { to }),
        },
        signal,
      ),
    ...paged,
  });

export type PortalSettings = InferResponseType<typeof api.portal.$get>;

export const portalQuery = queryOptions({
  queryKey: ['portal'],
  queryFn: () => call(api.portal.$get()),
});
