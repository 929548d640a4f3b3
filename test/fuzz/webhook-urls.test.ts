import * as fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { webhookUrlProblem } from '../../src/webhooks/url-rules.ts';

/** These runs send no requests, so there can be many of them: 5,000 by default. */
const RUNS = 200 * inject('fuzzRuns');

const problem = (url: string) =>
  webhookUrlProblem(url, { ownHosts: ['latchkey.example.com'], allowLoopback: false });

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

test('every spelling of an IP address is rejected', () => {
  fc.assert(
    fc.property(address, fc.constantFrom('', '/', '/x?y', ':443/'), (host, rest) => {
      expect(problem(`https://${host}${rest}`)).not.toBeNull();
    }),
    { numRuns: RUNS },
  );
});

test('every accepted URL uses https and names a public host', () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(urlish, fc.webUrl(), fc.string({ maxLength: 40 })), (text) => {
      if (problem(text) !== null) return;
      accepted++;
      const { protocol, hostname, port, username, password } = new URL(text);
      expect([protocol, port, username, password]).toEqual(['https:', '', '', '']);
      expect(hostname).toMatch(/^[^.[\]]+(\.[^.[\]]+)*\.[a-z][a-z0-9-]*$/);
      expect(hostname).not.toMatch(/(^|\.)(localhost|local|internal|latchkey\.example\.com)$/);
    }),
    { numRuns: RUNS },
  );
  expect(accepted).toBeGreaterThan(RUNS / 50);
});
