// A customer's own HTTP server: checks signatures as the standard's library does, and keeps count.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

export interface Event {
  id: string;
  name: string;
  licenseKey: string;
}

/** What arrived at one path. */
export interface Inbox {
  path: string;
  /** Answered with a 2xx, by `webhook-id`. */
  events: Map<string, Event>;
  /** Posted again after they had been answered with a 2xx. */
  duplicated: number;
  /** Answered with 500 on purpose. */
  failed: Set<string>;
  badSignatures: number;
}

interface Behaviour {
  /** The share of first attempts that get a 500. */
  failFirst: number;
  /** How long an answer takes; may be changed at any time. */
  answerAfterMs?: number;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const openInbox = (path: string, secret: string, { failFirst }: Behaviour) => {
  const webhook = new Webhook(secret);
  const inbox: Inbox = { path, events: new Map(), duplicated: 0, failed: new Set(), badSignatures: 0 };

  /** The status to answer with. */
  const take = (body: string, headers: Record<string, string>): number => {
    let read: { event: string; license_key: string };
    try {
      read = webhook.verify(body, headers) as typeof read;
    } catch {
      inbox.badSignatures++;
      return 401;
    }
    const id = headers['webhook-id'] ?? '';
    if (inbox.events.has(id)) {
      inbox.duplicated++;
      return 200;
    }
    if (!inbox.failed.has(id) && Math.random() < failFirst) {
      inbox.failed.add(id);
      return 500;
    }
    inbox.events.set(id, { id, name: read.event, licenseKey: read.license_key });
    return 200;
  };
  return { inbox, take };
};

export const openReceiver = async (behaviour: Behaviour) => {
  const inboxes = new Map<string, ReturnType<typeof openInbox>>();

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request);
    const status = inboxes.get(request.url ?? '')?.take(body, request.headers as Record<string, string>);
    if (behaviour.answerAfterMs) await delay(behaviour.answerAfterMs);
    response.writeHead(status ?? 404).end();
  };

  const server = createServer((request, response) => {
    // A sender may die in the middle of its request.
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    urlOf: (path: string) => `http://127.0.0.1:${port}${path}`,
    open: (path: string, secret: string): Inbox => {
      const opened = openInbox(path, secret, behaviour);
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
