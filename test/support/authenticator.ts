import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app shows at a time. */
export const codeAt = (secret: string, ms: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: ms });
