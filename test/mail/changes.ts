import { userTokens } from '../../src/db/schema.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { type Account, register } from '../support/client.ts';
import { accountsD1, firstD1, publicCtx } from '../support/databases.ts';
import { asOperator } from '../support/operator.ts';
import { asVisitor, login, withToken } from '../support/sign-in.ts';
import { type Change, isFound, registerTwoFactor, registerVerified, told } from './change.ts';
import { TWO_FACTOR } from './two-factor-changes.ts';

const NEW_PASSWORD = 'a new horse battery';
const WRONG = 'wrong horse battery';

const tokenFor = async (accountId: string, purpose: Parameters<typeof newUserToken>[2], email: string) => {
  const { token, row } = newUserToken(publicCtx, accountId, purpose, email);
  await publicCtx.firstDb.insert(userTokens).values(row);
  return token;
};

const reset = async ({ accountId, email }: Account) => {
  const token = await tokenFor(accountId, 'reset_password', email);
  return () => asVisitor('/api/reset-password', { token, password: NEW_PASSWORD });
};

/** Every change that an email about security tells. */
export const CHANGES: Change[] = [
  ...TWO_FACTOR,
  {
    name: 'a new password',
    open: async () => {
      const ada = await registerVerified();
      const body = { current_password: ada.password, password: NEW_PASSWORD };
      return {
        change: () => ada.asSession('POST', '/api/change-password', body),
        expected: told(ada, 'Your password has changed', 'password.change'),
      };
    },
  },
  {
    name: 'a reset of the password',
    open: async () => {
      const ada = await registerVerified();
      const expected = told(ada, 'Your password has changed', 'password.reset');
      return { change: await reset(ada), expected };
    },
  },
  {
    name: 'the first proof of an address by a reset',
    open: async () => {
      const ada = await register();
      const isChanged = 'users WHERE account_id = ? AND password_changed_at IS NOT NULL';
      const expected = [
        {
          to: ada.email,
          subject: 'The account with your email address is yours',
          hasHappened: isFound(firstD1, isChanged, ada.accountId),
        },
      ];
      return { change: await reset(ada), expected };
    },
  },
  {
    name: 'a change of the address that is asked for',
    open: async () => {
      const ada = await registerVerified();
      const body = { email: `new-${ada.email}`, current_password: ada.password };
      return {
        change: () => ada.asSession('POST', '/api/change-email', body),
        expected: told(ada, 'Your email address is about to change', 'email.request_change'),
      };
    },
  },
  {
    name: 'a changed address',
    open: async () => {
      const ada = await registerVerified();
      const token = await tokenFor(ada.accountId, 'change_email', `new-${ada.email}`);
      return {
        change: () => withToken(ada.token, 'POST', '/api/verify-email', { token }),
        expected: told(ada, 'Your email address has changed', 'email.change'),
      };
    },
  },
  {
    name: 'an address that is taken back',
    open: async () => {
      const ada = await registerVerified();
      const token = await tokenFor(ada.accountId, 'restore_email', ada.email);
      const thief = `thief-${ada.email}`;
      await firstD1.prepare('UPDATE users SET email = ? WHERE email = ?').bind(thief, ada.email).run();
      const hasHappened = isFound(firstD1, 'users WHERE email = ?', ada.email);
      return {
        change: () => asVisitor('/api/restore-email', { token }),
        expected: [
          { to: thief, subject: 'Your email address has changed back', hasHappened },
          ...told(ada, 'Your account has its email address back', 'email.restore'),
        ],
      };
    },
  },
  {
    name: 'a change of the address that the operator was asked for',
    open: async () => {
      const ada = await registerTwoFactor();
      const body = { email: 'moved@example.com' };
      return {
        change: () => asOperator('POST', `/operator/accounts/${ada.accountId}/change-email`, body),
        expected: told(ada, 'Your email address is about to change', 'email.request_change'),
      };
    },
  },
  {
    name: 'a sign-in with another browser',
    open: async () => {
      const ada = await registerVerified();
      return {
        change: () => login(ada.email, ada.password),
        expected: told(ada, 'New sign-in to your account', 'login'),
      };
    },
  },
  {
    name: 'ten wrong passwords inside the account',
    open: async () => {
      const ada = await registerVerified();
      const guess = () => ada.asSession('POST', '/api/reauthenticate', { password: WRONG });
      for (let i = 0; i < 9; i++) await guess();
      return {
        change: guess,
        expected: told(ada, 'Wrong passwords inside your account', 'session.fail'),
      };
    },
  },
  {
    name: 'an erasure that is asked for',
    open: async () => {
      const ada = await registerVerified();
      const body = { current_password: ada.password, confirm: ada.email };
      const isRequested = 'accounts WHERE id = ? AND erase_at IS NOT NULL';
      const expected = [
        {
          to: ada.email,
          subject: 'Your account will be deleted',
          hasHappened: isFound(accountsD1, isRequested, ada.accountId),
        },
      ];
      return { change: () => ada.asSession('DELETE', '/api/account', body), expected };
    },
  },
];
