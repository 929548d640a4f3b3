// The calls to Cloudflare's API that tell what exists, and create what doesn't. Wrangler makes the others.
import { setTimeout as delay } from 'node:timers/promises';
import { fail } from './fail.ts';

const API = process.env['CLOUDFLARE_API_BASE_URL'] ?? 'https://api.cloudflare.com/client/v4';
const ATTEMPTS = 4;
const TIMEOUT_MS = 30_000;

interface Reply<T> {
  success: boolean;
  result: T;
  errors?: { code: number; message: string }[];
}

/** A call that makes something isn't done if Cloudflare doesn't find what it needs. */
const MAY_FIND_NOTHING = ['GET', 'DELETE'];

const isPassing = (status: number) => status === 429 || status >= 500;

const unreachable = (error: unknown): never =>
  fail(`Cloudflare can’t be reached (${error instanceof Error ? error.message : String(error)}).`);

/** Sends a call, again if Cloudflare is busy. Returns null if what is read or deleted doesn't exist. */
const send = async <T>(token: string, method: string, path: string, body?: object): Promise<T | null> => {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(API + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(unreachable);
    if (response.status === 404 && MAY_FIND_NOTHING.includes(method)) return null;
    if (isPassing(response.status) && attempt < ATTEMPTS) {
      await delay(500 * 2 ** attempt);
      continue;
    }
    const reply = (await response.json().catch(() => null)) as Reply<T> | null;
    if (reply?.success) return reply.result;
    const [problem] = reply?.errors ?? [];
    return fail(`Cloudflare refused ${method} ${path}: ${problem?.message ?? `status ${response.status}`}.`);
  }
};

export interface Named {
  id: string;
  name: string;
}

/** Returns the accounts that the token can use. */
export const listAccounts = async (token: string): Promise<Named[]> =>
  (await send<Named[]>(token, 'GET', '/accounts?per_page=50')) ?? [];

/** `service` is the Worker's name. */
interface CustomDomain {
  hostname: string;
  service: string;
}

export const openAccount = (token: string, accountId: string) => {
  const call = <T>(method: string, path: string, body?: object) =>
    send<T>(token, method, `/accounts/${accountId}${path}`, body);
  const query = (name: string) => encodeURIComponent(name);
  const findDomains = async (by: keyof CustomDomain, value: string): Promise<CustomDomain[]> => {
    const found = await call<CustomDomain[]>('GET', `/workers/domains?${by}=${query(value)}`);
    return found?.filter((domain) => domain[by] === value) ?? [];
  };
  return {
    findDatabase: async (name: string): Promise<string | null> => {
      const found = await call<{ uuid: string; name: string }[]>('GET', `/d1/database?name=${query(name)}`);
      return found?.find((database) => database.name === name)?.uuid ?? null;
    },

    createDatabase: async (name: string): Promise<string> =>
      (await call<{ uuid: string }>('POST', '/d1/database', { name }))?.uuid ??
      fail(`${name} wasn’t created.`),

    /** Whether somebody has an account. The first database has the users of all. */
    hasAccounts: async (databaseId: string): Promise<boolean> => {
      const hasRows = async (sql: string) => {
        const found = await call<{ results: unknown[] }[]>('POST', `/d1/database/${databaseId}/query`, {
          sql,
        });
        return (found?.[0]?.results.length ?? 0) > 0;
      };
      return (
        (await hasRows(`SELECT 1 FROM sqlite_master WHERE name = 'users'`)) &&
        (await hasRows('SELECT 1 FROM users LIMIT 1'))
      );
    },

    /** Whether the account is on the plan that a service needs, or null if the token may not read that. */
    hasPaidPlan: async (): Promise<boolean | null> => {
      const response = await fetch(`${API}/accounts/${accountId}/subscriptions`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch(() => null);
      const reply = (await response?.json().catch(() => null)) as Reply<unknown> | null | undefined;
      if (!reply?.success || !Array.isArray(reply.result)) return null;
      const plans = (reply.result as { rate_plan?: { id?: string; public_name?: string } }[]).map(
        ({ rate_plan }) => `${rate_plan?.id} ${rate_plan?.public_name}`.toLowerCase(),
      );
      return plans.some((plan) => /workers[ _]paid|enterprise/.test(plan));
    },

    deleteDatabase: (id: string) => call('DELETE', `/d1/database/${id}`),

    findQueue: async (name: string): Promise<string | null> => {
      const found = await call<{ queue_id: string; queue_name: string }[]>(
        'GET',
        `/queues?name=${query(name)}`,
      );
      return found?.find(({ queue_name }) => queue_name === name)?.queue_id ?? null;
    },

    createQueue: (name: string) => call('POST', '/queues', { queue_name: name }),

    deleteQueue: (id: string) => call('DELETE', `/queues/${id}`),

    findBucket: async (name: string): Promise<string | null> =>
      (await call<{ name: string }>('GET', `/r2/buckets/${query(name)}`))?.name ?? null,

    createBucket: (name: string) => call('POST', '/r2/buckets', { name }),

    /** Returns the Worker whose custom domain this is, or null if it is nobody's. */
    findWorkerAt: async (domain: string): Promise<string | null> =>
      (await findDomains('hostname', domain))[0]?.service ?? null,

    /**
     * Gives a Worker one more domain. Cloudflare refuses one that another Worker, or a DNS record, has. Wrangler's call names all
     * domains of the Worker, which loses those that it leaves out.
     */
    connectDomain: async (worker: string, domain: string) => {
      const own = (await findDomains('service', worker)).map(({ hostname }) => hostname);
      await call('PUT', `/workers/scripts/${worker}/domains/records`, {
        override_scope: true,
        override_existing_origin: false,
        override_existing_dns_record: false,
        origins: [...own, domain].map((hostname) => ({ hostname })),
      });
    },

    /** Whether there is such a Worker, and it answers at its address on workers.dev. */
    isOnWorkersDev: async (worker: string): Promise<boolean> =>
      (await call<{ enabled: boolean }>('GET', `/workers/scripts/${worker}/subdomain`))?.enabled ?? false,

    /** Returns the names of a Worker's secrets, or null if there is no such Worker. */
    listSecrets: async (worker: string): Promise<string[] | null> => {
      const secrets = await call<{ name: string }[]>('GET', `/workers/scripts/${worker}/secrets`);
      return secrets?.map(({ name }) => name) ?? null;
    },

    /** Returns the rows of a query of Analytics Engine. */
    queryAnalytics: async <Row>(sql: string): Promise<Row[]> => {
      const response = await fetch(`${API}/accounts/${accountId}/analytics_engine/sql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: `${sql} FORMAT JSON`,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch(unreachable);
      const text = await response.text();
      if (response.ok) return (JSON.parse(text) as { data: Row[] }).data;
      return fail(
        `Cloudflare refused the query (status ${response.status}): ${text.slice(0, 300)}\nThe token needs the permission Account Analytics: Read, and a dataset begins with its first request.`,
      );
    },

    deleteWorker: (worker: string) => call('DELETE', `/workers/scripts/${worker}?force=true`),

    /** Returns the account's name on workers.dev, or null if it has none yet. */
    findSubdomain: async (): Promise<string | null> =>
      (await call<{ subdomain: string }>('GET', '/workers/subdomain'))?.subdomain ?? null,
  };
};

export type CloudflareAccount = ReturnType<typeof openAccount>;
