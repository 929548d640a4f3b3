// Stripe as far as the tests need it: checkouts are `emulate`'s, which has no subscriptions; those are here, as
// the tests put them. Runs in Node for the whole run; each test uses objects of its own.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEmulator } from 'emulate';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    stripe: string;
  }
}

export interface StripeRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** The form, its fields as Stripe names them: `line_items[0][quantity]`. */
  form: Record<string, string>;
  answered: number;
}

interface Reply {
  status: number;
  body: unknown;
}

const subscriptions = new Map<string, Record<string, unknown>>();
const requests: StripeRequest[] = [];
/** Cancellations of these are carried out, and answered when the test says so. */
const held = new Map<string, PromiseWithResolvers<void>>();

const missing = (id: string): Reply => ({
  status: 404,
  body: {
    error: {
      type: 'invalid_request_error',
      code: 'resource_missing',
      param: 'id',
      message: `No such subscription: '${id}'`,
    },
  },
});

/** Like Stripe: one that is over can be read, and nothing else. */
const answerSubscription = async (
  method: string,
  id: string,
  form: URLSearchParams,
  expand: string[],
): Promise<Reply> => {
  const subscription = subscriptions.get(id);
  if (!subscription || (method !== 'GET' && subscription['status'] === 'canceled')) return missing(id);
  if (method === 'DELETE') {
    Object.assign(subscription, { status: 'canceled', ended_at: Math.floor(Date.now() / 1_000) });
    await held.get(id)?.promise;
  }
  if (method === 'POST' && form.get('cancel_at_period_end') === 'true') {
    subscription['cancel_at_period_end'] = true;
  }
  const invoice = subscription['latest_invoice'] as { id: string } | null;
  const isExpanded = expand.includes('latest_invoice');
  return { status: 200, body: { ...subscription, latest_invoice: isExpanded ? invoice : invoice?.id } };
};

const post = async (url: string, form: Record<string, string>) => {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as { id: string } };
};

/** `emulate` knows no `price_data`: this makes the product and the price that Stripe makes of it. */
const withPrice = async (emulated: string, form: Record<string, string>) => {
  const { id: product } = (
    await post(`${emulated}/v1/products`, {
      name: form['line_items[0][price_data][product_data][name]'] ?? '',
    })
  ).body;
  const { id: price } = (
    await post(`${emulated}/v1/prices`, {
      product,
      currency: form['line_items[0][price_data][currency]'] ?? '',
      unit_amount: form['line_items[0][price_data][unit_amount]'] ?? '',
      'recurring[interval]': form['line_items[0][price_data][recurring][interval]'] ?? '',
    })
  ).body;
  const rest = Object.entries(form).filter(([name]) => !name.includes('[price_data]'));
  return { ...Object.fromEntries(rest), 'line_items[0][price]': price };
};

const answer = async (
  emulated: string,
  method: string,
  url: URL,
  form: Record<string, string>,
): Promise<Reply> => {
  const [, , resource, id = ''] = url.pathname.split('/');
  if (resource === 'subscriptions') {
    return answerSubscription(method, id, new URLSearchParams(form), [...url.searchParams.values()]);
  }
  if (method === 'POST' && url.pathname === '/v1/checkout/sessions') {
    return post(emulated + url.pathname, await withPrice(emulated, form));
  }
  const init = method === 'GET' ? {} : { method, body: new URLSearchParams(form) };
  const response = await fetch(emulated + url.pathname, init);
  return { status: response.status, body: await response.json() };
};

/** `/test/…` is for the test: what there is, what is held up, what has been asked. */
const control = (method: string, [what = '', id = '']: string[], body: string): unknown => {
  if (what === 'subscriptions') subscriptions.set(id, JSON.parse(body) as Record<string, unknown>);
  if (what === 'hold' && method === 'PUT') held.set(id, Promise.withResolvers());
  if (what === 'hold' && method === 'DELETE') held.get(id)?.resolve();
  return requests.filter((request) => JSON.stringify(request).includes(id));
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const handle = async (emulated: string, request: IncomingMessage, response: ServerResponse) => {
  const method = request.method ?? '';
  const url = new URL(request.url ?? '', 'http://stripe.test');
  const body = await readBody(request);
  const send = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (url.pathname.startsWith('/test/'))
    return send(200, control(method, url.pathname.split('/').slice(2), body));
  const form = Object.fromEntries(new URLSearchParams(body));
  const headers = request.headers as Record<string, string>;
  const noted = { method, path: url.pathname, headers, form, answered: 0 };
  requests.push(noted);
  const reply = await answer(emulated, method, url, form);
  noted.answered = reply.status;
  send(reply.status, reply.body);
};

export default async ({ provide }: TestProject) => {
  const emulator = await createEmulator({ service: 'stripe', port: 0 });
  const server = createServer((request, response) => {
    handle(emulator.url, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  provide('stripe', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    await emulator.close();
  };
};
