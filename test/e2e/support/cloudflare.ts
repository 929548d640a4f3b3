// A double of Cloudflare's API, as far as `npm run deploy` and wrangler call it. Its D1 is SQLite, so migrations really run. It also
// answers as the deployed service would.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import packageJson from '../../../package.json' with { type: 'json' };
import { type Domains, publish } from './custom-domains.ts';

interface Queue {
  queue_id: string;
  queue_name: string;
  producers: unknown[];
  consumers: Record<string, unknown>[];
}

interface Worker {
  secrets: Map<string, string>;
  /** What the last deployment has sent about the Worker, without its code. */
  metadata: { bindings: Record<string, string>[] };
  deployments: number;
  isOnWorkersDev: boolean;
}

export interface Cloudflare {
  origin: string;
  variables: string[];
  databases: Map<string, { id: string; sql: DatabaseSync }>;
  queues: Map<string, Queue>;
  buckets: Set<string>;
  workers: Map<string, Worker>;
  domains: Domains;
  /** What `/health` answers, first of all, as Workers of the release before do for a while after a deployment. */
  staleHealth: object[];
  /** The changing calls so far, as `POST /queues`. */
  changes: string[];
  /** The plans of the account, or null if the token may not read them. */
  plans: { current: string[] | null };
  /** The queries of Analytics Engine so far. It answers each with the rows that `answer` has for it. */
  analytics: { queries: string[]; answer: (query: string) => object[] | null };
  /** Refuses changing calls after so many of them. */
  refuseAfter: (changes: number) => void;
  close: () => Promise<void>;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
};

const metadataOf = (body: string): { bindings?: Record<string, string>[] } =>
  JSON.parse(/name="metadata"[^]*?\r\n\r\n([^]*?)\r\n--/.exec(body)?.[1] ?? '{}') as {
    bindings?: Record<string, string>[];
  };

const ACCOUNT = 'acc0000000000000000000000000000';

export const startCloudflare = async (): Promise<Cloudflare> => {
  const databases: Cloudflare['databases'] = new Map();
  const queues: Cloudflare['queues'] = new Map();
  const buckets: Cloudflare['buckets'] = new Set();
  const workers: Cloudflare['workers'] = new Map();
  const domains: Domains = new Map();
  const changes: string[] = [];
  const plans: Cloudflare['plans'] = { current: ['workers_paid'] };
  const analytics: Cloudflare['analytics'] = { queries: [], answer: () => [] };
  let left = Infinity;
  let ids = 0;

  const query = (id: string, sql: string) => {
    const database = [...databases.values()].find((each) => each.id === id);
    if (!database) return null;
    const isQuery = /^\s*SELECT/i.test(sql);
    if (!isQuery) database.sql.exec(sql);
    return [{ results: isQuery ? database.sql.prepare(sql).all() : [], success: true, meta: {} }];
  };

  const callDatabases = (method: string, [id, rest]: string[], parameters: URLSearchParams, body: string) => {
    if (rest === 'query') return query(id ?? '', (JSON.parse(body) as { sql: string }).sql);
    if (method === 'POST') {
      const { name } = JSON.parse(body) as { name: string };
      const uuid = `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`;
      databases.set(name, { id: uuid, sql: new DatabaseSync(':memory:') });
      return { uuid, name };
    }
    if (method === 'DELETE') {
      for (const [name, database] of databases) if (database.id === id) databases.delete(name);
      return null;
    }
    const wanted = parameters.get('name');
    return [...databases]
      .filter(([name]) => !wanted || name.includes(wanted))
      .map(([name, database]) => ({ name, uuid: database.id }));
  };

  const callQueues = (method: string, [id, rest]: string[], parameters: URLSearchParams, body: string) => {
    const byId = [...queues.values()].find(({ queue_id }) => queue_id === id);
    if (rest === 'consumers' && method === 'GET') return byId?.consumers ?? [];
    if (rest === 'consumers') {
      const consumer = { ...(JSON.parse(body) as object), consumer_id: `c${++ids}` };
      byId?.consumers.push(consumer);
      return consumer;
    }
    if (method === 'POST') {
      const { queue_name } = JSON.parse(body) as { queue_name: string };
      const queue = { queue_id: `q${++ids}`, queue_name, producers: [], consumers: [] };
      queues.set(queue_name, queue);
      return queue;
    }
    if (method === 'DELETE') {
      if (byId) queues.delete(byId.queue_name);
      return null;
    }
    const wanted = parameters.get('name');
    return [...queues.values()].filter(({ queue_name }) => !wanted || queue_name === wanted);
  };

  const callBuckets = (method: string, [name = '']: string[], body: string) => {
    if (method !== 'POST') return buckets.has(name) ? { name } : undefined;
    const made = JSON.parse(body) as { name: string };
    buckets.add(made.name);
    return made;
  };

  const callWorkers = (method: string, [kind, name = '', rest]: string[], body: string): unknown => {
    if (kind === 'domains')
      return [...domains].flatMap(([hostname, service]) => (service ? [{ hostname, service }] : []));
    if (kind === 'subdomain') return { subdomain: 'orrery' };
    if (kind === 'assets' || rest === 'assets-upload-session') return { jwt: 'a.b.c', buckets: [] };
    const worker = workers.get(name);
    if (kind === 'scripts' && rest === undefined && method === 'PUT') {
      const metadata = { bindings: [], ...metadataOf(body) };
      const made = worker ?? { secrets: new Map<string, string>(), deployments: 0, isOnWorkersDev: false };
      for (const { type, name: secret = '', text } of metadata.bindings)
        if (type === 'secret_text') made.secrets.set(secret, text ?? made.secrets.get(secret) ?? '');
      workers.set(name, { ...made, metadata, deployments: made.deployments + 1 });
      return { id: name, etag: 'e', startup_time_ms: 1, deployment_id: `d${++ids}`, entry_point: 'index.js' };
    }
    if (!worker) return undefined;
    if (method === 'DELETE') return void workers.delete(name);
    if (kind === 'services')
      return { id: name, default_environment: { script: { last_deployed_from: 'wrangler' } } };
    if (rest === 'secrets' && method === 'PUT')
      return worker.metadata.bindings.push(JSON.parse(body) as Record<string, string>);
    if (rest === 'secrets')
      return [...worker.secrets.keys()].map((secret) => ({ name: secret, type: 'secret_text' }));
    if (rest === 'domains') return method === 'PUT' ? publish(domains, name, body) : undefined;
    if (rest === 'settings') return { bindings: worker.metadata.bindings };
    if (rest === 'deployments') return { deployments: [] };
    if (rest === 'subdomain' && method === 'POST')
      worker.isOnWorkersDev = (JSON.parse(body) as { enabled: boolean }).enabled;
    const subdomain = { enabled: worker.isOnWorkersDev, previews_enabled: false };
    if (kind === 'workers') return { id: name, subdomain };
    return rest === 'subdomain' ? subdomain : {};
  };

  const staleHealth: Cloudflare['staleHealth'] = [];
  /** The deployed service. It says that it is well once a Worker was deployed. */
  const callService = (path: string, authorization = ''): [status: number, body: object] => {
    const [worker] = workers.values();
    if (path === '/health' && worker) {
      const deployment = worker.metadata.bindings.find(({ name }) => name === 'DEPLOYMENT')?.['text'];
      const { version } = packageJson;
      const health = { status: 'ok', version, deployment, checks: { database: 'ok' } };
      return [200, staleHealth.shift() ?? health];
    }
    const isOperator = authorization === `Bearer ${worker?.secrets.get('OPERATOR_TOKEN')}`;
    if (path.startsWith('/operator/') && !isOperator) return [401, {}];
    if (path === '/operator/accounts') return [200, { data: [] }];
    if (path === '/operator/invitations') return [200, { url: `${origin}/register#invitation=once` }];
    return [404, {}];
  };

  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', origin);
      const method = request.method ?? 'GET';
      const body = await readBody(request);
      const send = (status: number, value: unknown) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(value));
      };
      const [, area, ...rest] = url.pathname
        .split(/\/client\/v4(?:\/accounts\/[^/]+)?\/?/)
        .join('/')
        .split('/');
      if (!url.pathname.startsWith('/client/v4'))
        return send(...callService(url.pathname, request.headers.authorization));
      if (area === 'analytics_engine') {
        analytics.queries.push(body);
        const data = analytics.answer(body);
        if (data) return send(200, { meta: [], data, rows: data.length });
        response.writeHead(422);
        return response.end('You have an error in your SQL.');
      }
      const isChange = method !== 'GET' && !(rest[2] === 'query' && /SELECT|IF NOT EXISTS/.test(body));
      if (isChange) {
        if (left-- <= 0) throw new Error('Refused by the test.');
        changes.push(`${method} ${url.pathname.replace(/.*accounts\/[^/]+/, '')}`);
      }
      let result: unknown = {};
      if (url.pathname.endsWith('/accounts')) result = [{ id: ACCOUNT, name: 'Orrery' }];
      else if (area === 'subscriptions') {
        if (!plans.current)
          return send(403, { success: false, errors: [{ code: 10_000, message: 'No.' }], result: null });
        result = plans.current.map((id) => ({ rate_plan: { id } }));
      } else if (area === 'd1') result = callDatabases(method, rest.slice(1), url.searchParams, body);
      else if (area === 'queues') result = callQueues(method, rest, url.searchParams, body);
      else if (area === 'r2') result = callBuckets(method, rest.slice(1), body);
      else if (area === 'workers') result = callWorkers(method, rest, body);
      if (result === undefined)
        return send(404, { success: false, errors: [{ code: 10_090, message: 'Not found.' }], result: null });
      send(200, { success: true, errors: [], messages: [], result });
    })().catch((error: unknown) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      const message = error instanceof Error ? error.message : String(error);
      response.end(JSON.stringify({ success: false, errors: [{ code: 7_500, message }], result: null }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    variables: [`CLOUDFLARE_API_BASE_URL=${origin}/client/v4`, 'CLOUDFLARE_API_TOKEN=only-for-tests'],
    databases,
    queues,
    buckets,
    workers,
    domains,
    staleHealth,
    plans,
    analytics,
    changes,
    refuseAfter: (count) => {
      left = count;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
