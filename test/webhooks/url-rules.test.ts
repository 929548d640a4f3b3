import { runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { webhookUrlProblem } from '../../src/webhooks/url-rules.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evictOutbox, outbox, runOutboxAlarm } from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

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
])('accepts %s', (url) => {
  expect(problem(url)).toBeNull();
});

const REJECTED: Record<string, string[]> = {
  'must be a URL': [
    '',
    'nonsense',
    '/hooks',
    'https://',
    'https://a b.com/',
    'https://acme.com:99999/',
    'https://1.2.3.4.5/',
  ],
  'must start with https://': [
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
  'must use port 443': ['https://acme.com:80/', 'https://acme.com:8443/', 'https://acme.com:22/'],
  'must not contain a username or password': [
    'https://ada@acme.com/',
    'https://ada:word@acme.com/',
    'https://:word@acme.com/',
    'https://acme.com@127.0.0.1/',
  ],
  'must not have a fragment': ['https://acme.com/#x'],
  'must have a hostname: IP addresses are not allowed': [
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
  'must not have a hostname that ends with a dot': [
    'https://acme.com./',
    'https://localhost./',
    'https://latchkey.example.com./',
  ],
  'must have a public hostname': [
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
  'must not point to this service': [
    'https://latchkey.example.com/',
    'https://LATCHKEY.example.com/api/v1/licenses/verify',
    'https://api.latchkey.example.com/',
  ],
};

test.for(Object.entries(REJECTED).flatMap(([rule, urls]) => urls.map((url) => [url, rule] as const)))(
  'rejects %j: the URL %s',
  ([url, rule]) => {
    expect(problem(url)).toBe(rule);
  },
);

test.for([
  'http://127.0.0.1:8787/x',
  'http://localhost:3000/',
  'https://localhost/',
  'http://[::1]:80/',
  'http://2130706433/',
])('accepts %s only where loopback is allowed', (url) => {
  expect(webhookUrlProblem(url, LOCAL)).toBeNull();
  expect(problem(url)).toEqual(expect.any(String));
});

test.for([
  'http://127.0.0.2/',
  'http://0.0.0.0/',
  'http://10.0.0.1/',
  'http://acme.com/',
  'http://localhost./',
  'http://localhost.acme.com/',
  'http://user@localhost/',
  'ftp://localhost/',
])('rejects %s even where loopback is allowed', (url) => {
  expect(webhookUrlProblem(url, LOCAL)).toEqual(expect.any(String));
});

test('every attempt checks the URL again and does not call a URL that is no longer allowed', async () => {
  useFakeClock();
  const { ada, receiver, id, path, deliveries } = await sellerWithWebhook(
    {},
    { status: 500 },
    { status: 200 },
  );
  await ada.asSession('POST', `${path}/test`);
  const [failed] = await waitUntil(
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
  await runOutboxAlarm(ada.accountId);
  const [blocked] = await waitUntil(deliveries, ([delivery]) => delivery.attempts.length === 2);
  expect(blocked.attempts[1]).toMatchObject({
    status_code: null,
    error: 'the URL must not contain a username or password',
    response: null,
  });
  expect(await receiver.received()).toHaveLength(1);

  await moveTo(receiver.url);
  vi.setSystemTime(blocked.next_attempt_at);
  await runOutboxAlarm(ada.accountId);
  await receiver.receives(2);
});
