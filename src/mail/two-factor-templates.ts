import type { MailContent } from '../shared/text/mail-content.ts';
import { forgotPasswordLink, RESET_NOTE, utcTime } from './templates.ts';

// The emails about two-factor authentication.

/** Sent when the operator was asked to turn two-factor authentication off. */
export const twoFactorResetRequested = (origin: string, resetAtMs: number): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Two-factor authentication is about to be turned off',
  paragraphs: [
    `The operator of the service was asked to turn off two-factor authentication for your Latchkey account. From ${utcTime(resetAtMs)} on, the password alone will be enough to sign in.`,
    'To keep two-factor authentication on, sign in with a code before then.',
  ],
  link: { label: 'Sign in', url: `${origin}/login` },
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export const twoFactorChanged = (origin: string, isEnabled: boolean): MailContent<'security'> => ({
  kind: 'security',
  subject: isEnabled ? 'Two-factor authentication is on' : 'Two-factor authentication is off',
  paragraphs: [
    isEnabled
      ? 'Your Latchkey account now asks for a code from your authenticator app at each sign-in, and all other sessions have ended. Keep the recovery codes in a safe place.'
      : 'Your Latchkey account no longer asks for a code at sign-in. The password alone is enough.',
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export const recoveryCodesReplaced = (origin: string): MailContent<'security'> => ({
  kind: 'security',
  subject: 'You have new recovery codes',
  paragraphs: [
    'New recovery codes were created for your Latchkey account, and the earlier ones no longer work. Keep the new ones in a safe place.',
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});

export const wrongCodes = (origin: string, ip: string | null, nowMs: number): MailContent<'security'> => ({
  kind: 'security',
  subject: 'Wrong codes after your password',
  paragraphs: [
    'Somebody who knows the password of your Latchkey account has sent five wrong codes at sign-in. Two-factor authentication has kept them out.',
  ],
  facts: [
    ['Time', utcTime(nowMs)],
    ['IP address', ip ?? 'Unknown'],
  ],
  link: forgotPasswordLink(origin),
  note: `If it was you, there is nothing to do. ${RESET_NOTE}`,
});
