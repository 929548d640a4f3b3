import * as z from 'zod';
import { currentPassword } from '../users/schemas.ts';

export const code = z
  .string()
  .max(64)
  .meta({
    description: 'A code of the authenticator app, or a recovery code.',
    examples: ['492039'],
  });

export const confirmTwoFactorInput = z
  .strictObject({ code: z.string().max(64).meta({ description: 'A code of the authenticator app.' }) })
  .meta({ id: 'ConfirmTwoFactor' });

export const disableTwoFactorInput = z
  .strictObject({ current_password: currentPassword, code })
  .meta({ id: 'DisableTwoFactor' });

export const replaceCodesInput = z
  .strictObject({ current_password: currentPassword, code })
  .meta({ id: 'ReplaceRecoveryCodes' });

export const twoFactorSecretBody = z
  .object({
    secret: z.string().meta({ description: 'The secret in base32, to type into an authenticator app.' }),
    otpauth_url: z.string().meta({ description: 'The same as a URL, to show as a QR code.' }),
  })
  .meta({ id: 'TwoFactorSecret' });

export const recoveryCodesBody = z
  .object({
    recovery_codes: z.array(z.string()).meta({
      description: 'Each of them replaces a code of the authenticator app once. They are not shown again.',
    }),
  })
  .meta({ id: 'RecoveryCodes' });

export const twoFactorOffBody = z.object({ two_factor: z.literal(false) }).meta({ id: 'TwoFactorOff' });
