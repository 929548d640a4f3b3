// A customer's HTTP server. It checks signatures with the Standard Webhooks library and counts requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

export interface Event {
  id: string;
  name: string;
  licenseKey: string;
  activationId: string | null;
  answeredAtMs: number;
}

/** A request for an event that already got a 2xx response. */
export interface Duplicate {
  answeredAtMs: number;
  repeatedAtMs: number;
}

/** The requests to one path. */
export interface Inbox {
  path: string;
  /** Events that got a 2xx response, by `webhook-id`. */
  events: Map<string, Event>;
  duplicates: Duplicate[];
  /** Ids of the events that got a deliberate 500 response. */
  failed: Set<string>;
  badSignatures: number;
}

interface Behavior {
  /** The share of first attempts that get a 500. */
  failFirst: number;
  /** Delay of each response. Can be changed at any time. */
  answerAfterMs?: number;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const openInbox = (path: string, secret: string, { failFirst }: Behavior) => {
  const webhook = new Webhook(secret);
  const inbox: Inbox = { path, events: new Map(), duplicates: [], failed: new Set(), badSignatures: 0 };

  /** Records a request and returns the status of its response. */
  const take = (body: string, headers: Record<string, string>): number => {
    let read: { event: string; license_key: string; activation_id?: string | null };
    try {
      read = webhook.verify(body, headers) as typeof read;
    } catch {
      inbox.badSignatures++;
      return 401;
    }
    const id = headers['webhook-id'] ?? '';
    const known = inbox.events.get(id);
    if (known) {
      inbox.duplicates.push({ answeredAtMs: known.answeredAtMs, repeatedAtMs: Date.now() });
      return 200;
    }
    if (!inbox.failed.has(id) && Math.random() < failFirst) {
      inbox.failed.add(id);
      return 500;
    }
    const { event: name, license_key: licenseKey, activation_id: activationId = null } = read;
    inbox.events.set(id, { id, name, licenseKey, activationId, answeredAtMs: Date.now() });
    return 200;
  };
  return { inbox, take };
};

export const openReceiver = async (behavior: Behavior) => {
  const inboxes = new Map<string, ReturnType<typeof openInbox>>();

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request);
    const status = inboxes.get(request.url ?? '')?.take(body, request.headers as Record<string, string>);
    if (behavior.answerAfterMs) await delay(behavior.answerAfterMs);
    response.writeHead(status ?? 404).end();
  };

  const server = createServer((request, response) => {
    // The service may be killed in the middle of a request.
    answer(request, response).catch(() => response.destroy());
  });
  // An idle connection that is closed just when a request arrives would be a failed attempt that no inbox counts.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    urlOf: (path: string) => `http://127.0.0.1:${port}${path}`,
    open: (path: string, secret: string): Inbox => {
      const opened = openInbox(path, secret, behavior);
      inboxes.set(path, opened);
      return opened.inbox;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;
