import { mutationOptions, queryOptions } from '@tanstack/react-query';
import type { MailTopic } from '../../shared/rules/mail-topics.ts';
import { api, call, type JsonOf } from './client.ts';
import { ApiError, reword } from './error.ts';

// The mutations that sign in, and those that change how to sign in.

const EMAIL_TAKEN = reword('email_taken', {
  details: [{ path: 'email', message: 'An account with this email address already exists.' }],
});

/** Shows a wrong password at its field. */
const WRONG_PASSWORD = reword('invalid_credentials', {
  details: [{ path: 'current_password', message: 'The password is wrong.' }],
});

/** Proves again who holds the session. */
export const proveSession = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.reauthenticate.$post>) =>
    call(api.reauthenticate.$post({ json })).catch(
      reword('invalid_credentials', {
        details: [
          'code' in json
            ? { path: 'code', message: 'The code is wrong or was already used.' }
            : { path: 'password', message: 'The password is wrong.' },
        ],
      }),
    ),
});

// Signing in

export const register = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.register.$post>) =>
    call(api.register.$post({ json }))
      .catch(EMAIL_TAKEN)
      .catch(
        reword('invalid_token', { message: 'This link was used, has expired, or is for another address.' }),
      ),
});

/** A user with two-factor authentication has to answer this challenge with a code. */
export interface TwoFactorChallenge {
  challenge: string;
}

const readChallenge = (error: unknown): TwoFactorChallenge => {
  if (!(error instanceof ApiError) || error.code !== 'two_factor_required') throw error;
  return { challenge: error.details.find(({ path }) => path === 'challenge')?.message ?? '' };
};

const WRONG_CODE = reword('invalid_credentials', {
  details: [{ path: 'code', message: 'The code is wrong or was already used.' }],
});

export const logIn = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.login.$post>) => call(api.login.$post({ json })).catch(readChallenge),
});

export const logInWithCode = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api.login)['two-factor']['$post']>) =>
    call(api.login['two-factor'].$post({ json }))
      .catch(WRONG_CODE)
      .catch(
        reword('invalid_token', { message: 'Too many attempts, or too much time passed. Sign in again.' }),
      ),
});

export const resetPassword = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['reset-password']['$post']>) =>
    call(api['reset-password'].$post({ json })).catch(readChallenge),
});

export const forgotPassword = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['forgot-password']['$post']>) =>
    call(api['forgot-password'].$post({ json })),
});

// The account's access

export interface EmailChoice {
  topic: MailTopic;
  isWanted: boolean;
}

/** The muted topics after a choice. */
export const withChoice = (muted: MailTopic[], { topic, isWanted }: EmailChoice): MailTopic[] => [
  ...muted.filter((other) => other !== topic),
  ...(isWanted ? [] : [topic]),
];

export const editAccount = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.account.$patch>) => call(api.account.$patch({ json })),
  meta: { invalidates: ['account', 'dashboard'] },
});

/** Changes one choice of what the service has now: another tab may have changed another. */
export const chooseEmails = mutationOptions({
  mutationFn: async (choice: EmailChoice) => {
    const { muted_emails } = await call(api.account.$get());
    return call(api.account.$patch({ json: { muted_emails: withChoice(muted_emails, choice) } }));
  },
  meta: { invalidates: ['account'] },
});

export const changePassword = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['change-password']['$post']>) =>
    call(api['change-password'].$post({ json })).catch(WRONG_PASSWORD),
  meta: { invalidates: ['sessions'] },
});

export const changeEmail = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['change-email']['$post']>) =>
    call(api['change-email'].$post({ json })).catch(WRONG_PASSWORD).catch(EMAIL_TAKEN),
  meta: { invalidates: ['account'] },
});

export const resendVerification = mutationOptions({
  mutationFn: () => call(api['resend-verification'].$post()),
});

export const verifyEmail = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['verify-email']['$post']>) =>
    call(api['verify-email'].$post({ json })),
  meta: { invalidates: ['account'] },
});

export const restoreEmail = mutationOptions({
  mutationFn: (token: string) =>
    call(api['restore-email'].$post({ json: { token } })).catch(
      reword('email_taken', {
        message: 'Another account now has this address. Contact the operator of the service.',
      }),
    ),
});

export const endSession = mutationOptions({
  mutationFn: (id: string) => call(api.sessions[':id'].$delete({ param: { id } })),
  meta: { invalidates: ['sessions'] },
});

export const endOtherSessions = mutationOptions({
  mutationFn: () => call(api.sessions.$delete()),
  meta: { invalidates: ['sessions'] },
});

// Two-factor authentication

/** The answer to a password with a code doesn't say which of them is wrong. */
const WRONG_PROOF = reword('invalid_credentials', {
  message: 'The password or code is wrong, or the code was already used.',
});

/** A query, so that the dialog that shows the secret asks for one only. */
export const startTwoFactor = queryOptions({
  queryKey: ['two-factor'],
  queryFn: () => call(api['two-factor'].$post()),
  staleTime: Infinity,
  gcTime: 0,
});

export const confirmTwoFactor = mutationOptions({
  mutationFn: (code: string) => call(api['two-factor'].confirm.$post({ json: { code } })).catch(WRONG_CODE),
  meta: { invalidates: ['account'] },
});

export const disableTwoFactor = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['two-factor']['$delete']>) =>
    call(api['two-factor'].$delete({ json })).catch(WRONG_PROOF),
  meta: { invalidates: ['account'] },
});

export const replaceRecoveryCodes = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['two-factor']['recovery-codes']['$post']>) =>
    call(api['two-factor']['recovery-codes'].$post({ json })).catch(WRONG_PROOF),
});

export const deleteAccount = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.account.$delete>) =>
    call(api.account.$delete({ json })).catch(json.code === undefined ? WRONG_PASSWORD : WRONG_PROOF),
});
