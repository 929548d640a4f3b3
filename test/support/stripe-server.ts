// A fake of Stripe's API: the parts of customers, checkout sessions and subscriptions that the tests need.
// Runs in Node for the whole test run. Each test uses its own objects.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { openCharges, type Reply, type StripeObject } from './stripe-charges.ts';
import { type Call, ok, openCheckouts, refuse, refuseMissing } from './stripe-checkouts.ts';
import { openKeys } from './stripe-keys.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stripe: string;
  }
}

export interface StripeRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Form fields under Stripe's names, such as `line_items[0][quantity]`. */
  form: Record<string, string>;
  /** Status of the response; 0 until it is sent. */
  answered: number;
  /** Whether it was the kept answer to an earlier request with the same Idempotency-Key. */
  isRepeat: boolean;
}

const subscriptions = new Map<string, StripeObject>();
const charges = openCharges();
const keys = openKeys();
const checkouts = openCheckouts();
const requests: StripeRequest[] = [];
/** Subscriptions whose cancellation takes effect immediately but is answered only when the test releases it. */
const held = new Map<string, PromiseWithResolvers<void>>();

/** As at Stripe, a canceled subscription can be neither canceled again nor changed, each with its own error. */
const callSubscription = async ({ method, id, form, expand }: Call): Promise<Reply> => {
  const subscription = subscriptions.get(id);
  const isOver = subscription?.['status'] === 'canceled';
  if (!subscription || (method === 'DELETE' && isOver)) return refuseMissing(404, 'subscription', id, 'id');
  if (method === 'POST' && isOver) {
    return refuse(400, 'A canceled subscription can only update its cancellation_details and metadata.');
  }
  // As for a downgrade that was planned on Stripe's own page.
  if (method === 'POST' && subscription['schedule']) {
    return refuse(
      400,
      'The subscription is managed by a subscription schedule. Please update the schedule instead.',
    );
  }
  if (method === 'POST' && subscription['refuses'] === true && form['items[0][id]'] !== undefined) {
    return refuse(400, 'This customer has no attached payment source or default payment method.');
  }
  if (method === 'DELETE') {
    // This server doesn't know the test's clock.
    Object.assign(subscription, { status: 'canceled', ended_at: subscription['created'] });
    await held.get(id)?.promise;
  }
  if (method === 'POST' && form['cancel_at_period_end'] !== undefined) {
    subscription['cancel_at_period_end'] = form['cancel_at_period_end'] === 'true';
  }
  if (method === 'POST') charges.changePrice(subscription, form);
  const invoice = subscription['latest_invoice'] as { id: string } | null;
  const isExpanded = expand.includes('latest_invoice') || form['expand[0]'] === 'latest_invoice';
  return ok({ ...subscription, latest_invoice: isExpanded ? invoice : invoice?.id });
};

/** A schedule has the id of its subscription, with its own prefix. */
const releaseSchedule = (path: string): Reply => {
  const id = path.split('/')[3] ?? '';
  const subscription = subscriptions.get(id.replace('sub_sched_', 'sub_'));
  if (subscription?.['schedule'] !== id) return refuseMissing(404, 'schedule', id, 'schedule');
  subscription['schedule'] = null;
  return ok({ id, object: 'subscription_schedule', status: 'released' });
};

const reply = async (call: Call): Promise<Reply> => {
  const { method, path, id } = call;
  if (path.startsWith('/v1/subscription_schedules/')) return releaseSchedule(path);
  const charged = charges.call(method, path, call.search, call.form);
  if (charged) return charged;
  if (path === `/v1/subscriptions/${id}`) return callSubscription(call);
  return checkouts.call(call) ?? refuse(404, `Unrecognized request URL (${method}: ${path}).`);
};

/** Handles `/test/…`: a test stores subscriptions, holds back responses, and reads the recorded requests. */
const control = (method: string, [command = '', id = '']: string[], body: string): unknown => {
  if (command === 'subscriptions') {
    const changed = { ...subscriptions.get(id), ...(JSON.parse(body) as StripeObject) };
    subscriptions.set(id, changed);
    if (changed['latest_invoice']) charges.add(changed['latest_invoice'] as StripeObject);
    return changed;
  }
  if (command === 'invoices') {
    const changed = JSON.parse(body) as StripeObject;
    charges.add(changed);
    return changed;
  }
  if (command === 'prices' || command === 'tax' || command === 'sessions') checkouts.put(command, id, body);
  if (command === 'age') keys.age(id);
  if (command === 'charges' || command === 'disputes') return charges.put(command, id, JSON.parse(body));
  if (command === 'hold' && method === 'PUT') held.set(id, Promise.withResolvers());
  if (command === 'hold' && method === 'DELETE') held.get(id)?.resolve();
  return requests.filter((request) => JSON.stringify(request).includes(id));
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const idIn = (path: string) =>
  /^\/v1\/(?:subscriptions|invoices|prices|checkout\/sessions)\/([^/]+)/.exec(path)?.[1] ?? '';

const handle = async (request: IncomingMessage, response: ServerResponse) => {
  const method = request.method ?? '';
  const headers = request.headers as Record<string, string>;
  const origin = `http://${headers['host']}`;
  const { pathname: path, searchParams } = new URL(request.url ?? '', origin);
  const body = await readBody(request);
  const send = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (path.startsWith('/test/'))
    return send(200, control(method, path.split('/').slice(2).map(decodeURIComponent), body));
  const form = Object.fromEntries(new URLSearchParams(body));
  const recorded: StripeRequest = { method, path, headers, form, answered: 0, isRepeat: false };
  requests.push(recorded);
  const call = {
    method,
    path,
    id: idIn(path),
    form,
    search: searchParams,
    expand: [...searchParams.values()],
  };
  const key = method === 'POST' ? headers['idempotency-key'] : undefined;
  const answer = await keys.once(key, `${path} ${body}`, () => reply({ ...call, origin }));
  Object.assign(recorded, { answered: answer.status, isRepeat: answer.isRepeat });
  send(answer.status, answer.body);
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
  provide('stripe', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => {
    server.closeAllConnections();
    server.close();
  };
};
