import * as z from 'zod';
import { email } from '../shared/schemas/fields.ts';
import { currentPassword, newPassword } from '../users/schemas.ts';

const token = z.string().max(256).meta({ description: 'The token of the link in the email.' });

export const changePasswordInput = z
  .strictObject({ current_password: currentPassword, password: newPassword })
  .meta({ id: 'ChangePassword' });

export const forgotPasswordInput = z.strictObject({ email }).meta({ id: 'ForgotPassword' });

export const resetPasswordInput = z
  .strictObject({ token, password: newPassword })
  .meta({ id: 'ResetPassword' });

export const verifyEmailInput = z
  .strictObject({
    token,
    password: currentPassword.optional().meta({
      description: 'The password of the account. Needed only without a session of the account.',
    }),
  })
  .meta({ id: 'VerifyEmail' });

export const restoreEmailInput = z.strictObject({ token }).meta({ id: 'RestoreEmail' });

export const changeEmailInput = z
  .strictObject({ email, current_password: currentPassword })
  .meta({ id: 'ChangeEmail' });

export const passwordChangedBody = z.object({ changed: z.literal(true) }).meta({ id: 'PasswordChanged' });

export const mailAcceptedBody = z.object({ accepted: z.literal(true) }).meta({ id: 'MailAccepted' });

export const emailVerifiedBody = z
  .object({ email: z.string(), email_verified: z.literal(true) })
  .meta({ id: 'EmailVerified' });

export const emailRestoredBody = z
  .object({ email: z.string(), restored: z.literal(true) })
  .meta({ id: 'EmailRestored' });
