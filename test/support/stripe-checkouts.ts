// The part of the fake of Stripe's API that sells: customers, products, prices, checkout sessions, and the portal.
import type { Reply, StripeObject } from './stripe-charges.ts';

export interface Call {
  method: string;
  path: string;
  id: string;
  form: Record<string, string>;
  search: URLSearchParams;
  expand: string[];
  origin: string;
}

const newId = (prefix: string) => `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`;

export const ok = (body: unknown): Reply => ({ status: 200, body });

export const refuse = (
  status: number,
  message: string,
  fields: { code?: string; param?: string } = {},
): Reply => ({
  status,
  body: { error: { type: 'invalid_request_error', message, ...fields } },
});

export const refuseMissing = (status: number, what: string, id: string, param: string): Reply =>
  refuse(status, `No such ${what}: '${id}'`, { code: 'resource_missing', param });

const refuseParam = (param: string): Reply => refuse(400, `Missing or invalid param: ${param}.`, { param });

const isPositiveInteger = (text: string | undefined) => /^[1-9]\d*$/.test(text ?? '');

export const openCheckouts = () => {
  const customers = new Map<string, StripeObject>();
  const sessions = new Map<string, StripeObject>();
  const products = new Set<string>();
  /** What an operator has made in Stripe's dashboard. */
  const prices = new Map<string, StripeObject>();
  let taxStatus = 'pending';

  const createCustomer = (): Reply => {
    const customer = { id: newId('cus'), object: 'customer' };
    customers.set(customer.id, customer);
    return ok(customer);
  };

  const requiredOfSessions: [param: string, isValid: (text: string | undefined) => boolean][] = [
    ['mode', (text) => text === 'subscription'],
    ['line_items[0][quantity]', isPositiveInteger],
    ['line_items[0][price_data][unit_amount]', isPositiveInteger],
    ['line_items[0][price_data][currency]', Boolean],
    ['line_items[0][price_data][recurring][interval]', (text) => text === 'month'],
    ['line_items[0][price_data][product]', (id) => products.has(id ?? '')],
    ['success_url', (text) => URL.canParse(text ?? '')],
  ];

  /** A checkout names a price, or defines one of a product. */
  const invalidParam = (form: Call['form']) => {
    const price = form['line_items[0][price]'];
    if (price !== undefined) return prices.has(price) ? null : 'line_items[0][price]';
    return requiredOfSessions.find(([param, isValid]) => !isValid(form[param]))?.[0] ?? null;
  };

  const createProduct = ({ form }: Call): Reply => {
    const id = form['id'] ?? newId('prod');
    if (products.has(id)) return refuse(400, 'Product already exists.', { code: 'resource_already_exists' });
    products.add(id);
    return ok({ id, object: 'product', name: form['name'] });
  };

  const createPortal = ({ form }: Call): Reply => {
    const { customer = '' } = form;
    return customers.has(customer)
      ? ok({ id: newId('bps'), object: 'billing_portal.session', url: `https://billing.example/${customer}` })
      : refuseMissing(400, 'customer', customer, 'customer');
  };

  const createSession = ({ form, origin }: Call): Reply => {
    const invalid = invalidParam(form);
    if (invalid) return refuseParam(invalid);
    const { customer = null } = form;
    if (customer !== null && !customers.has(customer)) {
      return refuseMissing(400, 'customer', customer, 'customer');
    }
    const id = newId('cs_test');
    const session = {
      id,
      object: 'checkout.session',
      mode: 'subscription',
      status: 'open',
      payment_status: 'unpaid',
      customer,
      url: `${origin}/checkout/${id}`,
    };
    sessions.set(id, session);
    return ok(session);
  };

  const expireSession = ({ id }: Call): Reply => {
    const session = sessions.get(id);
    if (!session) return refuseMissing(404, 'checkout session', id, 'id');
    if (session['status'] !== 'open') return refuse(400, 'Only open sessions can be expired.');
    return ok(Object.assign(session, { status: 'expired' }));
  };

  const readSession = ({ id }: Call): Reply => {
    const session = sessions.get(id);
    return session ? ok(session) : refuseMissing(404, 'checkout session', id, 'id');
  };

  return {
    /** Changes what a test has made, or what Stripe's dashboard says. */
    put: (command: 'prices' | 'tax' | 'sessions', id: string, body: string): void => {
      if (command === 'tax') taxStatus = id;
      if (command === 'prices') prices.set(id, JSON.parse(body));
      if (command === 'sessions') Object.assign(sessions.get(id) ?? {}, JSON.parse(body));
    },
    /** Returns null for what isn't about checkouts. */
    call: (call: Call): Reply | null => {
      const { method, path, id } = call;
      switch (`${method} ${path}`) {
        case 'POST /v1/customers':
          return createCustomer();
        case 'POST /v1/products':
          return createProduct(call);
        case `GET /v1/prices/${id}`:
          return prices.has(id) ? ok(prices.get(id)) : refuseMissing(404, 'price', id, 'price');
        case 'GET /v1/tax/settings':
          return ok({ object: 'tax.settings', status: taxStatus });
        case 'POST /v1/billing_portal/sessions':
          return createPortal(call);
        case 'POST /v1/checkout/sessions':
          return createSession(call);
        case `GET /v1/checkout/sessions/${id}`:
          return readSession(call);
        case `POST /v1/checkout/sessions/${id}/expire`:
          return expireSession(call);
        default:
          return null;
      }
    },
  };
};
