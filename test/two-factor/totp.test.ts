import { expect, test } from 'vitest';
import { hashRecoveryCode, newRecoveryCodes } from '../../src/two-factor/recovery-codes.ts';
import { findStep, newSecret, otpauthUrl } from '../../src/two-factor/totp.ts';
import { codeAt } from '../support/authenticator.ts';

/** "12345678901234567890" in base32, the secret of RFC 6238. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

// Appendix B of RFC 6238 has codes of eight digits, which end with the six digits of apps.
test.for([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
] as const)('at %i s, the last six digits of RFC 6238’s code %s are good', ([seconds, digits]) => {
  expect(findStep(SECRET, digits.slice(2), seconds * 1_000)).toBe(Math.floor(seconds / 30));
});

test('a code is good one step before and after its own, and no longer', () => {
  const step = 50_000_000;
  const code = codeAt(SECRET, step * 30_000);
  const found = [-2, -1, 0, 1, 2].map((drift) => findStep(SECRET, code, (step + drift) * 30_000));
  expect(found).toEqual([null, step, step, step, null]);
});

test('a secret has 160 bits, and its URL is what authenticator apps read', () => {
  const secret = newSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const text = otpauthUrl(secret, 'ada@example.com');
  expect(decodeURIComponent(text)).toMatch(/^otpauth:\/\/totp\/Latchkey:ada@example\.com\?/);
  const url = new URL(text);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    secret,
    issuer: 'Latchkey',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
});

test('recovery codes are ten different ones, and may be typed carelessly', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
  expect(hashRecoveryCode(' oi1l aaaa-bbbbcccc')).toBe(hashRecoveryCode('0111-AAAA-BBBB-CCCC'));
});
