// An HTTP server that receives webhooks. Runs in Node for the whole test run. Each test uses its own paths and
// scripts the answers there.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** Sends a body until the sender hangs up. */
  endless?: boolean;
  /** Answers once the test calls `release`. */
  held?: boolean;
  /** Answers with the body of the request. */
  echoes?: boolean;
  /** Starts the answer and never finishes it. */
  stalls?: boolean;
}

export interface Received {
  method: string;
  headers: Record<string, string>;
  body: string;
  atMs: number;
  /** True if the sender closed the connection before the answer was complete. */
  cut?: boolean;
}

declare module 'vitest' {
  interface ProvidedContext {
    receiver: string;
  }
}

interface Inbox {
  /** Sends the answers that are held. */
  held: (() => void)[];
  /** Answers in order; the last one repeats. */
  script: Reply[];
  received: Received[];
}

const CHUNK_BYTES = 65_536;

const inboxes = new Map<string, Inbox>();

const inboxAt = (path: string): Inbox => {
  const inbox = inboxes.get(path) ?? { held: [], script: [{ status: 200 }], received: [] };
  inboxes.set(path, inbox);
  return inbox;
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** Sends a chunk whenever there is room. The sockets' buffers alone would take ten megabytes of a slow sender. */
const sendEndlessly = (response: ServerResponse) => {
  const chunk = 'x'.repeat(CHUNK_BYTES);
  const send = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', send);
  send();
};

const receive = (inbox: Inbox, request: IncomingMessage, body: string, response: ServerResponse) => {
  const received: Received = {
    method: request.method ?? '',
    headers: request.headers as Record<string, string>,
    body,
    atMs: Date.now(),
  };
  inbox.received.push(received);
  // The runtime closes its half of the connection at once, and the other half when it likes.
  const { socket } = request;
  const hangUp = () => response.destroy();
  socket.once('end', hangUp);
  response.on('close', () => {
    socket.off('end', hangUp);
    if (!response.writableFinished) received.cut = true;
  });
  const reply = (inbox.script.length > 1 ? inbox.script.shift() : inbox.script[0]) ?? { status: 200 };
  const answer = () => {
    response.writeHead(reply.status, reply.headers);
    if (reply.stalls) response.write('wait');
    else if (reply.endless) sendEndlessly(response);
    else response.end(reply.echoes ? body : 'ok');
  };
  if (reply.held) inbox.held.push(answer);
  else answer();
};

/** `/hooks/…` receives webhooks. Tests call `PUT /script/…`, `POST /release/…`, and `GET /inbox/…`. */
const handle = async (request: IncomingMessage, response: ServerResponse) => {
  const [, area, ...rest] = (request.url ?? '').split('/');
  const inbox = inboxAt(rest.join('/'));
  const body = await readBody(request);
  if (area === 'hooks') return receive(inbox, request, body, response);
  if (area === 'script') inbox.script = JSON.parse(body) as Reply[];
  if (area === 'release') for (const answer of inbox.held.splice(0)) answer();
  response.end(JSON.stringify(inbox.received));
};

export default async ({ provide }: TestProject) => {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  // Otherwise the server may close a connection in the moment in which the runtime uses it again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  provide('receiver', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => {
    server.closeAllConnections();
    server.close();
  };
};
