import { mutationOptions } from '@tanstack/react-query';
import { api, call, type JsonOf } from './client.ts';
import { reword } from './error.ts';

// The mutations that sign in, and those that change how to sign in.

const EMAIL_TAKEN = reword('email_taken', {
  details: [{ path: 'email', message: 'An account with this email address already exists.' }],
});

/** Shows a wrong password at its field. */
const WRONG_PASSWORD = reword('invalid_credentials', {
  details: [{ path: 'current_password', message: 'The password is wrong.' }],
});

// Signing in

export const register = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.register.$post>) =>
    call(api.register.$post({ json })).catch(EMAIL_TAKEN),
});

export const logIn = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.login.$post>) => call(api.login.$post({ json })),
});

export const resetPassword = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['reset-password']['$post']>) =>
    call(api['reset-password'].$post({ json })),
});

export const forgotPassword = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['forgot-password']['$post']>) =>
    call(api['forgot-password'].$post({ json })),
});

// The account's access

export const editAccount = mutationOptions({
  mutationFn: (json: JsonOf<typeof api.account.$patch>) => call(api.account.$patch({ json })),
  meta: { invalidates: ['account', 'dashboard'] },
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
  mutationFn: (token: string) => call(api['verify-email'].$post({ json: { token } })),
  meta: { invalidates: ['account'] },
});

export const endSession = mutationOptions({
  mutationFn: (id: string) => call(api.sessions[':id'].$delete({ param: { id } })),
  meta: { invalidates: ['sessions'] },
});

export const endOtherSessions = mutationOptions({
  mutationFn: () => call(api.sessions.$delete()),
  meta: { invalidates: ['sessions'] },
});
