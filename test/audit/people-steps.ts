import { userTokens } from '../../src/db/schema.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { codeAt } from '../support/authenticator.ts';
import { call, type Json } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { lastMailTo } from '../support/mails.ts';
import { asOperator } from '../support/operator.ts';
import { addSession } from '../support/sign-in.ts';
import { PRIVATE, type Send, type Step, type World } from './world.ts';

const STEP_MS = 30_000;

/** Sends the token of the last of `count` emails to bob. */
const withToken =
  (path: string, count: number, fields: Json = {}): Send =>
  async ({ secrets }) => {
    const { text } = await lastMailTo(PRIVATE.bob, count);
    const [token = ''] = /lkt_\w+/.exec(text) ?? [];
    secrets.push(token);
    return call('POST', path, { body: { token, ...fields } });
  };

const resetPassword: Send = async (world) => {
  await call('POST', '/api/forgot-password', { body: { email: PRIVATE.bob } });
  return withToken('/api/reset-password', 2, { password: PRIVATE.newPassword })(world);
};

/** As whoever reads the emails of an address that bob has changed. */
const restoreEmail: Send = async ({ answers, secrets }) => {
  const { id } = answers['POST /api/register'].account;
  const { token, row } = newUserToken(publicCtx, id, 'restore_email', PRIVATE.bob);
  await publicCtx.firstDb.insert(userTokens).values(row);
  secrets.push(token);
  return call('POST', '/api/restore-email', { body: { token } });
};

const endOtherSession: Send = async ({ ada }) => {
  const { body } = await ada.asSession('GET', '/api/sessions');
  const other = body.data.find(({ current }: Json) => !current);
  return ada.asSession('DELETE', `/api/sessions/${other.id}`);
};

const endOtherSessions: Send = async ({ ada }) => {
  await addSession(ada.accountId);
  return ada.asSession('DELETE', '/api/sessions');
};

/** The code of the authenticator app, some steps from now. Each works once. */
const twoFactorCode = ({ answers }: World, steps: number) =>
  codeAt(answers.twoFactor.secret, Date.now() + steps * STEP_MS);

const confirmTwoFactor: Send = async (world) => {
  world.answers.twoFactor = (await world.ada.asSession('POST', '/api/two-factor')).body;
  world.secrets.push(world.answers.twoFactor.secret);
  return world.ada.asSession('POST', '/api/two-factor/confirm', { code: twoFactorCode(world, -1) });
};

const loginWithTwoFactor: Send = async (world) => {
  const credentials = { email: world.ada.email, password: PRIVATE.newPassword };
  const { body } = await call('POST', '/api/login', { body: credentials });
  const challenge: string = body.error.details[0].message;
  world.secrets.push(challenge);
  return call('POST', '/api/login/two-factor', { body: { challenge, code: twoFactorCode(world, 0) } });
};

const replaceCodes: Send = async (world) => {
  const body = {
    current_password: PRIVATE.newPassword,
    code: world.answers['POST /api/two-factor/confirm'].recovery_codes[0],
  };
  const answer = await world.ada.asSession('POST', '/api/two-factor/recovery-codes', body);
  world.secrets.push(...answer.body.recovery_codes);
  return answer;
};

/** How a user gets in, and with which keys. */
export const PEOPLE: Step[] = [
  {
    route: 'POST /api/register',
    leaves: 'register',
    send: () => call('POST', '/api/register', { body: { email: PRIVATE.bob, password: PRIVATE.password } }),
  },
  {
    route: 'POST /api/login',
    leaves: 'login',
    send: ({ ada: { email, password } }) => call('POST', '/api/login', { body: { email, password } }),
  },
  {
    route: 'POST /api/reauthenticate',
    leaves: 'session.prove',
    body: ({ ada }) => ({ password: ada.password }),
  },
  {
    route: 'POST /api/verify-email',
    leaves: 'email.verify',
    send: withToken('/api/verify-email', 1, { password: PRIVATE.password }),
  },
  { route: 'POST /api/reset-password', leaves: 'password.reset', send: resetPassword },
  { route: 'POST /api/restore-email', leaves: 'email.restore', send: restoreEmail },
  { route: 'DELETE /api/sessions/:id', leaves: 'session.end', send: endOtherSession },
  { route: 'DELETE /api/sessions', leaves: 'session.end', send: endOtherSessions },
  {
    route: 'POST /api/change-password',
    leaves: 'password.change',
    body: ({ ada }) => ({ current_password: ada.password, password: PRIVATE.newPassword }),
  },
  {
    route: 'POST /api/change-email',
    leaves: 'email.request_change',
    body: { email: PRIVATE.newEmail, current_password: PRIVATE.newPassword },
  },
  { route: 'POST /api/two-factor/confirm', leaves: 'two_factor.enable', send: confirmTwoFactor },
  {
    route: 'POST /operator/accounts/:id/reset-two-factor',
    leaves: 'two_factor.request_reset',
    send: ({ ada }) => asOperator('POST', `/operator/accounts/${ada.accountId}/reset-two-factor`),
  },
  {
    route: 'POST /operator/accounts/:id/change-email',
    leaves: 'email.request_change',
    send: ({ ada }) =>
      asOperator('POST', `/operator/accounts/${ada.accountId}/change-email`, { email: PRIVATE.newEmail }),
  },
  { route: 'POST /api/login/two-factor', leaves: 'login', send: loginWithTwoFactor },
  { route: 'POST /api/two-factor/recovery-codes', leaves: 'recovery_code.replace', send: replaceCodes },
  {
    route: 'DELETE /api/two-factor',
    leaves: 'two_factor.disable',
    body: (world) => ({ current_password: PRIVATE.newPassword, code: twoFactorCode(world, 1) }),
  },
  { route: 'PATCH /api/account', leaves: 'account.update', body: { name: 'Ada Lovelace' } },
  {
    route: 'POST /api/create-api-key',
    leaves: 'api_key.create',
    body: { name: 'Shop' },
    creates: 'api-keys',
  },
  { route: 'GET /api/api-keys/:id', leaves: 'api_key.reveal' },
  { route: 'POST /api/api-keys/:id/rotate', leaves: 'api_key.rotate' },
  { route: 'DELETE /api/api-keys/:id', leaves: 'api_key.delete' },
];
