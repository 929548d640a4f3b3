import { createHmac } from 'node:crypto';
import { Secret, TOTP } from 'otpauth/bare';

// Time-based one-time passwords (RFC 6238) as every authenticator app computes them: SHA-1, six digits, 30 seconds.

const STEP_MS = 30_000;
/** The clocks of phones and of this service may differ by one step. */
const DRIFT_STEPS = 1;

const hmac = (algorithm: string, key: Uint8Array, message: Uint8Array): Uint8Array =>
  createHmac(algorithm.toLowerCase().replace('-', ''), key).update(message).digest();

const open = (secret: string, label = '') =>
  new TOTP({ issuer: 'Latchkey', label, secret: Secret.fromBase32(secret), hmac });

/** Returns 160 random bits in base32. */
export const newSecret = (): string => new Secret({ size: 20 }).base32;

/** Returns the URL that an authenticator app reads from a QR code. */
export const otpauthUrl = (secret: string, email: string): string => open(secret, email).toString();

/** Returns the time step whose code this is, or null if it is none of the steps around the time. */
export const findStep = (secret: string, code: string, nowMs: number): number | null => {
  const delta = open(secret).validate({ token: code, timestamp: nowMs, window: DRIFT_STEPS });
  return delta === null ? null : Math.floor(nowMs / STEP_MS) + delta;
};
