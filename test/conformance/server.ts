// `npm run conformance:server`: a double of the service for clients in any language. conformance/README.md says how to use it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { keyNumber } from './cases/signing.ts';
import type { Clock, Delivery } from './double/network.ts';
import { openService, type ServiceEvent } from './double/service.ts';
import { ACCOUNT, API_KEY, START, type World } from './world.ts';

/** A clock that stands still between two commands. */
const openClock = (startMs: number): Clock & { set: (ms: number) => void } => {
  let nowMs = startMs;
  let waiting: { atMs: number; resolve: () => void }[] = [];
  return {
    nowMs: () => nowMs,
    wait: (ms) => new Promise<void>((resolve) => waiting.push({ atMs: nowMs + ms, resolve })),
    set: (ms) => {
      nowMs = ms;
      const due = waiting.filter(({ atMs }) => atMs <= nowMs);
      waiting = waiting.filter(({ atMs }) => atMs > nowMs);
      for (const { resolve } of due) resolve();
    },
  };
};

const open = (world: World) => {
  const clock = openClock(Date.parse(world.now ?? START));
  return { clock, service: openService(clock, world) };
};
let double = open({});
const { kid, ...publicKey } = (await keyNumber(1)).jwk;
const APPLICATION = { api_key: API_KEY, keys: { account: ACCOUNT, keys: [{ kid, ...publicKey }] } };

type Command = { world: World } | { now: string } | ServiceEvent;

/** What happens before the next request: a new world, another time, or an event of a sequence. */
const command = async (sent: Command): Promise<object> => {
  if ('world' in sent) {
    if (Array.isArray(sent.world.products))
      throw new TypeError('The products are an object: the terms of each code.');
    double = open(sent.world);
  } else if ('now' in sent) {
    const ms = Date.parse(sent.now);
    if (Number.isNaN(ms)) throw new TypeError('The time must be like 2026-11-22T12:00:00.000Z.');
    double.clock.set(ms);
  } else return double.service.apply(sent);
  return {};
};

const control = async (method: string, body: string): Promise<Response> => {
  if (method === 'GET') return Response.json({ ...APPLICATION, ...double.service.report() });
  try {
    return Response.json(await command(JSON.parse(body) as Command));
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400 });
  }
};

const send = async (delivery: Delivery, to: ServerResponse): Promise<void> => {
  if (delivery === 'silence') return;
  if (delivery === 'cut') {
    to.destroy();
    return;
  }
  const headers = Object.fromEntries(delivery.headers);
  to.writeHead(delivery.status, headers).end(Buffer.from(await delivery.arrayBuffer()));
};

const answer = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
  const { method = 'GET', url = '/' } = from;
  const body = (await buffer(from)).toString();
  if (url === '/control') return send(await control(method, body), to);
  const headers = new Headers();
  for (const [name, value] of Object.entries(from.headers)) headers.set(name, String(value));
  const request = new Request(new URL(url, 'http://127.0.0.1'), { method, headers, ...(body && { body }) });
  return send(await double.service.deliver(request), to);
};

const server = createServer((from, to) => {
  answer(from, to).catch((error: unknown) => {
    console.error(error);
    to.destroy();
  });
});
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`The double of the service listens on http://127.0.0.1:${port}`);
});
