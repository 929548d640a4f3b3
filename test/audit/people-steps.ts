import { codeAt } from '../support/authenticator.ts';
import { call, type Json } from '../support/client.ts';
import { lastMailTo } from '../support/mails.ts';
import { PRIVATE, type Send, session, type Step, type World } from './world.ts';

const apiKey = ({ answers }: World) => `/api/api-keys/${answers['POST /api/create-api-key'].id}`;

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

const endOtherSession: Send = async ({ ada }) => {
  const { body } = await ada.asSession('GET', '/api/sessions');
  const other = body.data.find(({ current }: Json) => !current);
  return ada.asSession('DELETE', `/api/sessions/${other.id}`);
};

/** The code of the authenticator app, some steps from now. Each works once. */
const twoFactorCode = ({ answers }: World, steps: number) =>
  codeAt(answers.twoFactor.secret, Date.now() + steps * 30_000);

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

const disableTwoFactor: Send = (world) =>
  world.ada.asSession('DELETE', '/api/two-factor', {
    current_password: PRIVATE.newPassword,
    code: twoFactorCode(world, 1),
  });

/** How a user gets in, and with which keys. */
export const ACCOUNT: Step[] = [
  [
    'POST /api/register',
    'register',
    () => call('POST', '/api/register', { body: { email: PRIVATE.bob, password: PRIVATE.password } }),
  ],
  ['POST /api/login', 'login', ({ ada }) => call('POST', '/api/login', { body: ada })],
  ['POST /api/verify-email', 'email.verify', withToken('/api/verify-email', 1)],
  ['POST /api/reset-password', 'password.reset', resetPassword],
  ['DELETE /api/sessions/:id', 'session.end', endOtherSession],
  ['DELETE /api/sessions', 'session.end', session('DELETE', '/api/sessions')],
  [
    'POST /api/change-password',
    'password.change',
    ({ ada }) =>
      ada.asSession('POST', '/api/change-password', {
        current_password: ada.password,
        password: PRIVATE.newPassword,
      }),
  ],
  [
    'POST /api/change-email',
    'email.request_change',
    session('POST', '/api/change-email', {
      email: PRIVATE.newEmail,
      current_password: PRIVATE.newPassword,
    }),
  ],
  ['POST /api/two-factor/confirm', 'two_factor.enable', confirmTwoFactor],
  ['POST /api/login/two-factor', 'login', loginWithTwoFactor],
  ['DELETE /api/two-factor', 'two_factor.disable', disableTwoFactor],
  ['PATCH /api/account', 'account.update', session('PATCH', '/api/account', { name: 'Ada Lovelace' })],
  ['POST /api/create-api-key', 'api_key.create', session('POST', '/api/create-api-key', { name: 'Shop' })],
  ['GET /api/api-keys/:id', 'api_key.reveal', session('GET', apiKey)],
  [
    'POST /api/api-keys/:id/rotate',
    'api_key.rotate',
    (world) => world.ada.asSession('POST', `${apiKey(world)}/rotate`),
  ],
  ['DELETE /api/api-keys/:id', 'api_key.delete', session('DELETE', apiKey)],
];
