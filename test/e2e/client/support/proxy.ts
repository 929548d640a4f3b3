// A proxy between the client package and the service. It fails in the ways that networks and attackers make calls fail.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

interface Call {
  /** The path without `/api/v1/`, like `licenses/verify`. */
  path: string;
  /** Sends the call to the service, with some of its fields changed. */
  forward: (changes?: object) => Promise<Reply>;
}

/** Answers a call, or cuts the connection. */
export type Behavior = (call: Call) => Promise<Reply | 'cut'> | Reply | 'cut';

export const pass: Behavior = ({ forward }) => forward();

export const cut: Behavior = () => 'cut';

/** The service carries out the call, but its response gets lost. */
export const loseResponse: Behavior = async ({ forward }) => {
  await forward();
  return 'cut' as const;
};

export const respond =
  (status: number, text = '', headers: Record<string, string> = {}): Behavior =>
  () => ({ status, headers, text });

/** The service's own error: another server's Retry-After doesn't count. */
export const refuse = (status: number, retryAfter: string): Behavior =>
  respond(status, JSON.stringify({ error: { code: 'x', message: 'X', request_id: 'req_1' } }), {
    'retry-after': retryAfter,
  });

/** The application doesn't wait for its next attempt, so that a failed call takes no time. */
export const unavailable = refuse(503, '3600');

const LOGIN_PAGE = '<!doctype html><title>Welcome to the hotel</title><form>Room number <input></form>';

export const captivePortal = respond(200, LOGIN_PAGE, { 'content-type': 'text/html' });

export const afterDelay =
  (ms: number, behavior: Behavior = pass): Behavior =>
  async (call) => {
    await delay(ms);
    return behavior(call);
  };

/** Answers each call with a response that was recorded before. */
export const replay =
  (reply: Reply): Behavior =>
  () =>
    reply;

/** Changes fields of each call on its way to the service. */
export const withFields =
  (changes: object): Behavior =>
  ({ forward }) =>
    forward(changes);

/** Replaces the token in each response. */
export const withToken =
  (token: string): Behavior =>
  async ({ forward }) => {
    const reply = await forward();
    const body = JSON.parse(reply.text) as object;
    return { ...reply, text: JSON.stringify({ ...body, token }) };
  };

/** Answers the first calls in the given ways and passes the others on. */
export const first = (...behaviors: Behavior[]): Behavior => {
  const rest = [...behaviors];
  return (call) => (rest.shift() ?? pass)(call);
};

const PREFIX = '/api/v1/';
/** Headers that describe the connection to the proxy or the encoding that fetch removes. */
const DROPPED = new Set(['connection', 'content-encoding', 'content-length', 'host', 'transfer-encoding']);

const copyHeaders = (headers: Iterable<[string, string]>) =>
  Object.fromEntries([...headers].filter(([name]) => !DROPPED.has(name)));

const readBody = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  return text;
};

export interface Proxy {
  origin: string;
  /** Answers the calls from now on. */
  behavior: Behavior;
  /** The path of each call since the proxy started. */
  paths: string[];
  close: () => Promise<void>;
}

export const startProxy = async (target: string): Promise<Proxy> => {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request);
    const { url = '/', method = 'GET' } = request;
    const forward = async (changes?: object): Promise<Reply> => {
      const answer = await fetch(target + url, {
        method,
        headers: copyHeaders(Object.entries(request.headers as Record<string, string>)),
        ...(body !== '' && { body: JSON.stringify({ ...(JSON.parse(body) as object), ...changes }) }),
      });
      return { status: answer.status, headers: copyHeaders(answer.headers), text: await answer.text() };
    };
    const path = url.replace(PREFIX, '');
    if (method !== 'OPTIONS') proxy.paths.push(path);
    const reply = await (method === 'OPTIONS' ? forward() : proxy.behavior({ path, forward }));
    if (reply === 'cut') response.destroy();
    else response.writeHead(reply.status, reply.headers).end(reply.text);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: Proxy = {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    behavior: pass,
    paths: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
};
