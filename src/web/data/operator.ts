import { queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { call, checked, service } from './client.ts';

// The operator's calls. The token is in the memory of one page, so each call gets it. Cookies play no part.

export type OperatorAccount = InferResponseType<typeof service.operator.accounts.$get, 200>['data'][number];

const init = (token: string, signal?: AbortSignal) => ({
  headers: { authorization: `Bearer ${token}` },
  init: { credentials: 'omit' as const, ...(signal && { signal }) },
});

/** How many accounts the page shows. The service reads the usage of no more. */
const SHOWN = '20';

export type Order = 'size' | 'newest';

/** The largest accounts, or the newest ones, of those that match. */
export const readAccounts = async (token: string, q: string, order: Order, signal?: AbortSignal) => {
  const query = { limit: SHOWN, usage: 'true' as const };
  const found = await call(
    service.operator.accounts.$get(
      { query: { ...query, ...(q && { q }), ...(order === 'size' && { sort: '-storage' as const }) } },
      init(token, signal),
    ),
  );
  return found.data;
};

export const operatorAccountsQuery = (token: string, q: string, order: Order) =>
  queryOptions({
    queryKey: ['operator', 'accounts', q, order],
    queryFn: ({ signal }) => readAccounts(token, q, order, signal),
  });

/** Reads the metrics' samples: the name with its labels, and the value. */
const parseMetrics = (text: string): { name: string; labels: string; value: number }[] =>
  text.split('\n').flatMap((line) => {
    const [, name = '', labels = '', value = ''] = /^latchkey_(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === '' ? [] : [{ name, labels, value: Number(value) }];
  });

export const metricsQuery = (token: string) =>
  queryOptions({
    queryKey: ['operator', 'metrics'],
    queryFn: async ({ signal }) => {
      const response = await checked(service.operator.metrics.$get({}, init(token, signal)));
      return parseMetrics(await response.text());
    },
    refetchInterval: 60_000,
  });

const byId = (id: string) => ({ param: { id } });
const account = service.operator.accounts[':id'];

export const operatorActions = (token: string) => {
  const meta = { invalidates: ['operator'] as const };
  return {
    suspend: (id: string) => ({ mutationFn: () => call(account.suspend.$post(byId(id), init(token))), meta }),
    reinstate: (id: string) => ({
      mutationFn: () => call(account.reinstate.$post(byId(id), init(token))),
      meta,
    }),
    grant: (id: string) => ({
      mutationFn: (json: { plan: 'free' | 'pro' | 'scale'; until?: string }) =>
        call(account.plan.$post({ ...byId(id), json }, init(token))),
      meta,
    }),
    moveDatabase: (id: string) => ({
      mutationFn: (database: string) =>
        call(account.database.$post({ ...byId(id), json: { database } }, init(token))),
      meta,
    }),
    changeEmail: (id: string) => ({
      mutationFn: (email: string) =>
        call(account['change-email'].$post({ ...byId(id), json: { email } }, init(token))),
      meta,
    }),
    resetTwoFactor: (id: string) => ({
      mutationFn: () => call(account['reset-two-factor'].$post(byId(id), init(token))),
      meta,
    }),
    invite: {
      mutationFn: (email: string) =>
        call(service.operator.invitations.$post({ json: email === '' ? {} : { email } }, init(token))),
      meta,
    },
  };
};
export type OperatorActions = ReturnType<typeof operatorActions>;
