import { eq } from 'drizzle-orm';
import { vi } from 'vitest';
import { users, userTokens } from '../../src/db/schema.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { codeAt } from '../support/authenticator.ts';
import { type Account, register } from '../support/client.ts';
import { accountsD1, firstD1, publicCtx } from '../support/databases.ts';
import { heldFor, mailsTo } from '../support/mails.ts';
import { asOperator } from '../support/operator.ts';
import { asVisitor, login, verifyAddress, withToken } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';

// Every change that an email about security tells.

const NEW_PASSWORD = 'a new horse battery';
const WRONG = 'wrong horse battery';

/** An email that is to come if something has happened. */
export interface Expected {
  to: string;
  subject: string;
  hasHappened: () => Promise<boolean>;
}

interface Change {
  name: string;
  open: () => Promise<{ change: () => Promise<unknown>; expected: Expected[] }>;
}

const isFound =
  (d1: D1Database, condition: string, ...values: string[]) =>
  async () =>
    (await d1
      .prepare(`SELECT 1 FROM ${condition}`)
      .bind(...values)
      .first()) !== null;

/** The email to the account's address, if the audit log has an entry of its cause. */
const told = ({ accountId, email }: Account, subject: string, action: string): Expected[] => {
  const isEntry = 'audit_log WHERE account_id = ? AND action = ?';
  return [{ to: email, subject, hasHappened: isFound(firstD1, isEntry, accountId, action) }];
};

const registerVerified = async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  return ada;
};

/** Has got the email about two-factor authentication already. */
const registerTwoFactor = async () => {
  const ada = await enableTwoFactor(await registerVerified());
  await vi.waitUntil(() => mailsTo(ada.email).length === 1);
  await vi.waitUntil(async () => (await heldFor(ada.email)).length === 0);
  return ada;
};

const tokenFor = async (accountId: string, purpose: Parameters<typeof newUserToken>[2], email: string) => {
  const { token, row } = newUserToken(publicCtx, accountId, purpose, email);
  await publicCtx.firstDb.insert(userTokens).values(row);
  return token;
};

const reset = async ({ accountId, email }: Account) => {
  const token = await tokenFor(accountId, 'reset_password', email);
  return () => asVisitor('/api/reset-password', { token, password: NEW_PASSWORD });
};

export const CHANGES: Change[] = [
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
          subject: 'The account of your email address is yours',
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
          ...told(ada, 'Your email address is your account’s again', 'email.restore'),
        ],
      };
    },
  },
  {
    name: 'two-factor that is turned on',
    open: async () => {
      const ada = await registerVerified();
      const { secret } = (await ada.asSession('POST', '/api/two-factor')).body;
      const code = codeAt(secret, Date.now());
      return {
        change: () => ada.asSession('POST', '/api/two-factor/confirm', { code }),
        expected: told(ada, 'Two-factor authentication is on', 'two_factor.enable'),
      };
    },
  },
  {
    name: 'two-factor that is turned off',
    open: async () => {
      const ada = await registerTwoFactor();
      const body = { current_password: ada.password, code: ada.recoveryCodes[0] };
      return {
        change: () => ada.asSession('DELETE', '/api/two-factor', body),
        expected: told(ada, 'Two-factor authentication is off', 'two_factor.disable'),
      };
    },
  },
  {
    name: 'new recovery codes',
    open: async () => {
      const ada = await registerTwoFactor();
      const body = { current_password: ada.password, code: ada.recoveryCodes[0] };
      return {
        change: () => ada.asSession('POST', '/api/two-factor/recovery-codes', body),
        expected: told(ada, 'You have new recovery codes', 'recovery_code.replace'),
      };
    },
  },
  {
    name: 'a reset of two-factor that is asked for',
    open: async () => {
      const ada = await registerTwoFactor();
      return {
        change: () => asOperator('POST', `/operator/accounts/${ada.accountId}/reset-two-factor`),
        expected: told(ada, 'Two-factor authentication is about to go off', 'two_factor.request_reset'),
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
    name: 'a reset of two-factor that is due',
    open: async () => {
      const ada = await registerTwoFactor();
      await publicCtx.firstDb
        .update(users)
        .set({ twoFactorResetAt: Date.now() })
        .where(eq(users.accountId, ada.accountId));
      return {
        change: () => login(ada.email, ada.password),
        expected: told(ada, 'Two-factor authentication is off', 'two_factor.reset'),
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
    name: 'five wrong codes',
    open: async () => {
      const ada = await registerTwoFactor();
      const challenge = await ada.challenge();
      const guess = () => asVisitor('/api/login/two-factor', { challenge, code: '000 000 0' });
      for (let i = 0; i < 4; i++) await guess();
      return {
        change: guess,
        expected: told(ada, 'Wrong codes after your password', 'two_factor.fail'),
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
