// `npm run smoke -- URL`: uses a running service as a customer would, and says what works and how fast it is from here. It makes an
// account, and deletes it again.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { email: { type: 'string' }, invitation: { type: 'string' } },
});

const VERIFIES = 25;
/** Below the pace of a key on the plan `free`. */
const PAUSE_MS = 150;
const EVENTS_TIMEOUT_MS = 90_000;
const MACHINES = ['smoke-machine-1', 'smoke-machine-2'];

class SmokeError extends Error {}

const [url] = positionals;
if (!url || !URL.canParse(url)) {
  console.error(
    'Usage: npm run smoke -- https://licenses.example.com [--email ADDRESS] [--invitation TOKEN]',
  );
  process.exit(2);
}
const { origin } = new URL(url);

type Body = Record<string, unknown> & { data?: { event: string }[] };
type Credential = { 'x-api-key': string } | { authorization: string } | Record<string, never>;

const call = async (
  method: string,
  path: string,
  credential: Credential = {},
  body?: object,
): Promise<Body> => {
  const response = await fetch(origin + path, {
    method,
    headers: { ...credential, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SmokeError(`${method} ${path} got no answer: ${reason}`);
  });
  const text = await response.text();
  // An error of the service's has a code and a request id, and no secrets.
  if (!response.ok)
    throw new SmokeError(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as Body;
};

const expect = (what: string, found: unknown, wanted: unknown): void => {
  if (found !== wanted) throw new SmokeError(`${what}: expected ${String(wanted)}, found ${String(found)}`);
};

const step = async <T>(title: string, work: () => Promise<T>): Promise<T> => {
  const startMs = performance.now();
  try {
    const result = await work();
    console.log(`✓ ${title} (${Math.round(performance.now() - startMs)} ms)`);
    return result;
  } catch (error) {
    console.error(`✗ ${title}${error instanceof SmokeError ? `: ${error.message}` : ''}`);
    throw error;
  }
};

/** The token of an invitation, if the service wants one and the operator's token is at hand. */
const findInvitation = async (): Promise<string | undefined> => {
  const token = process.env['LATCHKEY_OPERATOR_TOKEN'];
  if (options.invitation || !token) return options.invitation;
  const { url: link } = await call(
    'POST',
    '/operator/invitations',
    { authorization: `Bearer ${token}` },
    { days: 1 },
  );
  return new URL(String(link)).hash.replace('#invitation=', '');
};

const email = options.email ?? `smoke-${randomBytes(6).toString('hex')}@example.com`;
const password = randomBytes(18).toString('base64url');

const register = async (registration: unknown): Promise<{ authorization: string }> => {
  const invitation = registration === undefined ? undefined : await findInvitation();
  const body = await call(
    'POST',
    '/api/register',
    {},
    { email, password, ...(invitation && { invitation }) },
  );
  return { authorization: `Bearer ${(body['session'] as { token: string }).token}` };
};

const addKey = async (session: Credential, scope: string) => {
  const body = await call('POST', '/api/create-api-key', session, { name: `smoke ${scope}`, scope });
  return { 'x-api-key': String(body['api_key']) };
};

const median = (sorted: number[]) => sorted[Math.floor(sorted.length / 2)] ?? NaN;

const measure = async (key: Credential, licenseKey: string): Promise<string> => {
  const times: number[] = [];
  for (let i = 0; i < VERIFIES; i++) {
    await delay(PAUSE_MS);
    const startMs = performance.now();
    await call('POST', '/api/v1/licenses/verify', key, { license_key: licenseKey });
    times.push(performance.now() - startMs);
  }
  const sorted = times.toSorted((a, b) => a - b);
  return `${median(sorted).toFixed(1)} ms at the median, ${sorted.at(-1)?.toFixed(1)} ms at most, of ${VERIFIES} verifies`;
};

/** Begins to listen. Returns a function that waits for events, as an endpoint that can't be reached from the internet does. */
const listen = async (key: Credential) => {
  let cursor = (await call('GET', '/api/events', key))['next_cursor'];
  return async (wanted: string[]): Promise<void> => {
    const missing = new Set(wanted);
    const endMs = Date.now() + EVENTS_TIMEOUT_MS;
    while (missing.size > 0 && Date.now() < endMs) {
      const page = await call('GET', `/api/events?wait=5&cursor=${String(cursor)}`, key);
      for (const { event } of page.data ?? []) missing.delete(event);
      cursor = page['next_cursor'];
    }
    if (missing.size > 0) throw new SmokeError(`These events didn’t come: ${[...missing].join(', ')}`);
  };
};

const run = async () => {
  const health = await step('The service is well', () => call('GET', '/health'));
  const session = await step('An account is created', () => register(health['registration']));
  try {
    const full = await step('An API key is created', () => addKey(session, 'full'));
    const verifyKey = await step('An API key for an application is created', () => addKey(session, 'verify'));
    const hear = await step('The account listens for events', () => listen(full));
    await step('A product with one seat is created', () =>
      call('PUT', '/api/v1/products/smoke', full, { name: 'Smoke', terms: { max_activations: 1 } }),
    );
    const license = await step('A license is created', () =>
      call('POST', '/api/v1/licenses/create', full, { product: 'smoke', customer_email: email }),
    );
    const application = (path: string, machine = MACHINES[0]) =>
      call('POST', `/api/v1/licenses/${path}`, verifyKey, {
        license_key: license['license_key'],
        fingerprint: machine,
      });
    await step('A machine takes the seat, and another one is refused', async () => {
      expect('code', (await application('activate'))['code'], 'valid');
      expect('code', (await application('activate', MACHINES[1]))['code'], 'no_seat');
      expect('code', (await application('verify'))['code'], 'valid');
    });
    await step('A license that is suspended is refused by the next verify', async () => {
      await call('POST', `/api/v1/licenses/${String(license['id'])}/suspend`, full, {});
      expect('code', (await application('verify'))['code'], 'suspended');
      await call('POST', `/api/v1/licenses/${String(license['id'])}/reinstate`, full, {});
      expect('code', (await application('verify'))['code'], 'valid');
    });
    await step('Its events arrive', () =>
      hear(['license.created', 'activation.created', 'license.verified', 'license.suspended']),
    );
    const times = await step('Verifies are measured', () =>
      measure(verifyKey, String(license['license_key'])),
    );
    console.log(`  From here: ${times}`);
  } finally {
    await step('The account is deleted, for good in seven days', () =>
      call('DELETE', '/api/account', session, { current_password: password, confirm: email }),
    );
  }
};

try {
  await run();
} catch (error) {
  // The step that failed has said so.
  if (!(error instanceof SmokeError)) throw error;
  process.exitCode = 1;
}
