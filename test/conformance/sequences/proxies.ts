import { ACTIVATE, activated, GO, LOOK, no, REFRESH, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

export const proxySequences: Sequence[] = [
  {
    name: 'The pages of a captive portal say nothing about the license',
    steps: [
      ...activated(),
      step('2d', { network: 'page', status: 200 }),
      step('2d', GO, STORED),
      step('2d 1m', REFRESH, { ...STORED, problem: 'network' }),
      step('2d 2m', { network: 'page', status: 302, headers: { location: 'http://portal.test/login' }, body: '' }),
      step('2d 2m', REFRESH, STORED),
      step('2d 3m', { network: 'page', status: 511 }),
      step('2d 3m', REFRESH, STORED),
      step('2d 4m', { network: 'page', status: 403 }),
      step('2d 4m', REFRESH, STORED),
      step('2d 5m', { network: 'page', status: 404 }),
      step('2d 5m', REFRESH, STORED),
      step('2d 6m', UP),
      step('2d 6m', REFRESH, VALID),
    ],
  },
  {
    name: 'JSON of another server says nothing about the license, in either direction',
    steps: [
      step('', GO),
      step('', { network: 'page', status: 200, body: { valid: true, code: 'valid', status: 'active' } }),
      step('', ACTIVATE, no('inconclusive')),
      step('1m', { network: 'page', status: 200, body: { valid: true, token: 'e30.e30.e30' } }),
      step('1m', ACTIVATE, { ...no('inconclusive'), problem: 'crypto' }),
      step('2m', UP),
      step('2m', ACTIVATE, VALID),
      step('3m', { network: 'page', status: 200, body: { valid: false, code: 'revoked', status: 'revoked' } }),
      step('3m', REFRESH, VALID),
    ],
  },
  {
    name: 'An answer of before doesn’t bring back a revoked license',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', REFRESH, VALID),
      step('2m', { seller: 'revoke' }),
      step('3m', REFRESH, no('revoked', 'network')),
      step('4m', { network: 'repeats' }),
      step('4m', REFRESH, no('revoked', 'network')),
      step('5m', ACTIVATE, { valid: false }),
    ],
  },
  {
    name: 'A proxy that changes the verdict is not believed',
    steps: [
      step('', { seller: 'revoke' }),
      step('', { network: 'changes', fields: { valid: true, code: 'valid', status: 'active' } }),
      step('', GO),
      step('', ACTIVATE, no('revoked', 'network')),
    ],
  },
  {
    name: 'A proxy that takes the token away is an outage',
    steps: [
      ...activated(),
      step('2d', { network: 'changes', fields: { token: null } }),
      step('2d', GO, STORED),
      step('2d 1m', REFRESH, STORED),
      step('2d 2m', STOP),
      step('14d 1h', GO, no('offline_expired', 'stored')),
    ],
  },
  {
    name: 'Nothing minds the Retry-After of a proxy',
    steps: [
      ...activated(),
      step('15d', { network: 'page', status: 503, headers: { 'retry-after': '86400' } }),
      step('15d', GO, no('offline_expired', 'stored')),
      step('15d 1m', UP),
      step('15d 6m', LOOK, VALID),
    ],
  },
];
