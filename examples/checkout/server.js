import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sendKey } from './send-key.js';
import { readLemonSqueezy, readStripe } from './stores.js';

const { LATCHKEY_URL, LATCHKEY_API_KEY, STRIPE_SECRET, LEMON_SQUEEZY_SECRET, PORT = '8100' } = process.env;
/** The product of each payment link at Stripe and each variant at Lemon Squeezy. Null: it gives no license. */
const offers = JSON.parse(readFileSync(new URL('offers.json', import.meta.url), 'utf8'));

const MAX_WAIT_SECONDS = 10;

const latchkey = async (method, path, body, headers = {}) => {
  const response = await fetch(`${LATCHKEY_URL}/api/v1/licenses${path}`, {
    method,
    headers: { 'x-api-key': LATCHKEY_API_KEY, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  // A search of many licenses is told to wait for a moment.
  const waitSeconds = Number(response.headers.get('retry-after') ?? Infinity);
  if (response.status === 429 && waitSeconds <= MAX_WAIT_SECONDS) {
    await delay(waitSeconds * 1_000);
    return latchkey(method, path, body, headers);
  }
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

/** `q` has an index, and `metadata.order` compares the whole number. A page may have nothing although more follow. */
const findLicense = async (order) => {
  const query = new URLSearchParams({ q: order, 'metadata.order': order });
  for (;;) {
    const { data, next_cursor: cursor } = await latchkey('GET', `?${query}`);
    if (data[0] || cursor === null) return data[0];
    query.set('cursor', cursor);
  }
};

/** Two notifications at once give one license by the Idempotency-Key, and one that comes days later by the order number. */
const sell = async ({ order, offer, email, name }) => {
  const product = offers[offer];
  if (product === null) return;
  if (!email) throw new Error(`The sale ${order} has no email address.`);
  if (!product) throw new Error(`offers.json doesn't name ${offer}.`);
  const input = { product, customer_email: email, customer_name: name || undefined, metadata: { order } };
  const license =
    (await findLicense(order)) ?? (await latchkey('POST', '/create', input, { 'idempotency-key': order }));
  if (license.metadata.mailed) return;
  await sendKey(license);
  await latchkey('PATCH', `/${license.id}`, { metadata: { mailed: true } });
};

const refund = async ({ order, offer }) => {
  const license = await findLicense(order);
  if (!license && offers[offer] === null) return;
  if (!license) throw new Error(`There is no license for ${order} yet.`);
  if (license.status !== 'revoked') await latchkey('POST', `/${license.id}/revoke`, { reason: 'refunded' });
};

const STORES = {
  '/stripe': (body, headers) => readStripe(body, headers, STRIPE_SECRET),
  '/lemonsqueezy': (body, headers) => readLemonSqueezy(body, headers, LEMON_SQUEEZY_SECRET),
};

const MAX_BODY_BYTES = 1024 * 1024;

const answer = async (request) => {
  const read = STORES[request.url ?? ''];
  if (!read || request.method !== 'POST') return 404;
  let body = Buffer.alloc(0);
  for await (const chunk of request) {
    body = Buffer.concat([body, chunk]);
    if (body.length > MAX_BODY_BYTES) return 413;
  }
  const notice = read(body, request.headers);
  if (!notice) return 401;
  if (notice.kind === 'sale') await sell(notice);
  if (notice.kind === 'refund') await refund(notice);
  return 200;
};

const handle = async (request, response) => {
  // Any other answer than 2xx makes the store send it again.
  const status = await answer(request).catch((error) => {
    console.error(error.message);
    return 503;
  });
  response.writeHead(status).end();
};

const server = createServer((request, response) => void handle(request, response));
server.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`Listening on http://localhost:${port}`);
});
