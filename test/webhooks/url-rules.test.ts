import { runInDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { webhookUrlProblem } from '../../src/webhooks/url-rules.ts';
import { signUp } from '../support/client.ts';
import { addEndpoint, evictOutbox, outbox, ring, until } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

afterEach(() => {
  vi.useRealTimers();
});

const PUBLIC = { ownHosts: ['latchkey.example.com'], allowLoopback: false };
const LOCAL = { ...PUBLIC, allowLoopback: true };

const problem = (url: string) => webhookUrlProblem(url, PUBLIC);

test.for([
  'https://hooks.acme.com/latchkey',
  'https://acme.co.uk',
  'https://hooks.acme.com:443/a?b=c',
  'HTTPS://HOOKS.ACME.COM/',
  'https://bücher.de/hooks',
  'https://xn--bcher-kva.de/',
  'https://1.2.3.4.acme.com/',
  'https://latchkey.example.com.acme.com/',
  'https://notlatchkey.example.com/',
  'https://example.com/',
  'https://mylocal.com/',
])('%s is taken', (url) => {
  expect(problem(url)).toBeNull();
});

const REFUSED: Record<string, string[]> = {
  'must be a URL': [
    '',
    'nonsense',
    '/hooks',
    'https://',
    'https://a b.com/',
    'https://acme.com:99999/',
    'https://1.2.3.4.5/',
  ],
  'must begin with https://': [
    'http://acme.com/',
    'ftp://acme.com/',
    'ws://acme.com/',
    'wss://acme.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'blob:https://acme.com/x',
    'http://localhost/',
    'http://127.0.0.1:8787/',
  ],
  'must use the standard port, 443': [
    'https://acme.com:80/',
    'https://acme.com:8443/',
    'https://acme.com:22/',
  ],
  'must not hold a user name or password': [
    'https://ada@acme.com/',
    'https://ada:word@acme.com/',
    'https://:word@acme.com/',
    'https://acme.com@127.0.0.1/',
  ],
  'must not have a fragment': ['https://acme.com/#x'],
  'must name its host: an IP address is not accepted': [
    'https://127.0.0.1/',
    'https://1.1.1.1/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://127.1/',
    'https://127.0.1/',
    'https://0/',
    'https://1/',
    'https://127.0.0.1./',
    'https://127.1./',
    'https://%31%32%37.0.0.1/',
    'https://127。0。0。1/',
    'https://１２７.０.０.１/',
    'https://①②⑦.⓪.⓪.①/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00::1]/',
    'https://[2606:4700:4700::1111]/',
  ],
  'must not end its host with a dot': [
    'https://acme.com./',
    'https://localhost./',
    'https://latchkey.example.com./',
  ],
  'must have a public host': [
    'https://localhost/',
    'https://LOCALHOST/',
    'https://api.localhost/',
    'https://intranet/',
    'https://com/',
    'https://metadata.google.internal/',
    'https://db.internal/',
    'https://printer.local/',
    'https://router.lan/',
    'https://nas.home.arpa/',
    'https://ⓛocalhost/',
    'https://db.ｉnternal/',
  ],
  'must not lead back to this service': [
    'https://latchkey.example.com/',
    'https://LATCHKEY.example.com/api/v1/licenses/verify',
    'https://api.latchkey.example.com/',
  ],
};

test.for(Object.entries(REFUSED).flatMap(([said, urls]) => urls.map((url) => [url, said] as const)))(
  '%s is refused: it %s',
  ([url, said]) => {
    expect(problem(url)).toBe(said);
  },
);

test('loopback is taken only where that is allowed, and then no other address is', () => {
  const loopback = [
    'http://127.0.0.1:8787/x',
    'http://localhost:3000/',
    'https://localhost/',
    'http://[::1]:80/',
    'http://2130706433/',
  ];
  for (const url of loopback) {
    expect([url, webhookUrlProblem(url, LOCAL)]).toEqual([url, null]);
    expect([url, problem(url)]).toEqual([url, expect.any(String)]);
  }
  for (const url of [
    'http://127.0.0.2/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://acme.com/',
    'http://localhost./',
    'http://localhost.acme.com/',
    'http://user@localhost/',
    'ftp://localhost/',
  ]) {
    expect([url, webhookUrlProblem(url, LOCAL)]).toEqual([url, expect.any(String)]);
  }
});

const byte = fc.nat({ max: 255 });
const spelled = byte.chain((n) =>
  fc.constantFrom(String(n), `0${n.toString(8)}`, `0x${n.toString(16)}`, `0X${n.toString(16)}`),
);
const address = fc.oneof(
  fc.tuple(spelled, spelled, spelled, spelled).map((parts) => parts.join('.')),
  fc.tuple(spelled, fc.nat({ max: 0xffffff })).map((parts) => parts.join('.')),
  fc.nat({ max: 0xffffffff }).map(String),
  fc.nat({ max: 0xffffffff }).map((n) => `0x${n.toString(16)}`),
  fc.ipV4Extended(),
  fc.ipV6().map((ip) => `[${ip}]`),
);
const hostlike = fc.oneof(
  address,
  address.map((host) => `${host}.`),
  fc.domain(),
  fc.constantFrom('localhost', 'acme.com', 'a.internal', 'latchkey.example.com', '%31.1.1.1'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const scheme = fc.oneof(
  { weight: 4, arbitrary: fc.constant('https') },
  fc.constantFrom('http', 'ftp', 'HTTPS', 'file', 'ws'),
);
const urlish = fc
  .tuple(
    scheme,
    fc.constantFrom('://', ':', ':/', ':///', '://\t', ':\\\\'),
    fc.constantFrom('', '', 'a@'),
    hostlike,
    fc.constantFrom('', '/', '/x', ':443', ':80', '?q', '#f', '\\x'),
  )
  .map((parts) => parts.join(''));

test('no spelling of any address is taken', () => {
  fc.assert(
    fc.property(address, fc.constantFrom('', '/', '/x?y', ':443/'), (host, rest) => {
      expect(problem(`https://${host}${rest}`)).not.toBeNull();
    }),
    { numRuns: 2_000 },
  );
});

test('what is taken is https to a host with a name, whatever is tried', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(urlish, fc.webUrl(), fc.string({ maxLength: 40 })), (text) => {
      if (problem(text) !== null) return;
      taken++;
      const { protocol, hostname, port, username, password } = new URL(text);
      expect([protocol, port, username, password]).toEqual(['https:', '', '', '']);
      expect(hostname).toMatch(/^[^.[\]]+(\.[^.[\]]+)*\.[a-z][a-z0-9-]*$/);
      expect(hostname).not.toMatch(/(^|\.)(localhost|local|internal|latchkey\.example\.com)$/);
    }),
    { numRuns: 5_000 },
  );
  expect(taken).toBeGreaterThan(100);
});

test('the rules are checked again at every attempt: who slips in later is not called', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const ada = await signUp();
  const receiver = await newReceiver({ status: 500 }, { status: 200 });
  const { id, path, deliveries } = await addEndpoint(ada, receiver.url);
  await ada.asSession('POST', `${path}/test`);
  const [failed] = await until(
    deliveries,
    ([delivery]) => delivery.next_attempt_at !== null && delivery.attempts.length === 1,
  );

  const moveTo = async (url: string) => {
    await runInDurableObject(outbox(ada.accountId), (_instance, { storage: { sql } }) => {
      sql.exec("UPDATE endpoints SET value = json_set(value, '$.url', ?) WHERE id = ?", url, id);
    });
    await evictOutbox(ada.accountId);
  };
  await moveTo(receiver.url.replace('//', '//user:word@'));
  vi.setSystemTime(failed.next_attempt_at);
  await ring(ada.accountId);
  const [refused] = await until(deliveries, ([delivery]) => delivery.attempts.length === 2);
  expect(refused.attempts[1]).toMatchObject({
    status_code: null,
    error: 'the URL must not hold a user name or password',
    response: null,
  });
  expect(await receiver.received()).toHaveLength(1);

  await moveTo(receiver.url);
  vi.setSystemTime(refused.next_attempt_at);
  await ring(ada.accountId);
  await receiver.receives(2);
});
