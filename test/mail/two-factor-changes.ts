import { eq } from 'drizzle-orm';
import { users } from '../../src/db/schema.ts';
import { codeAt } from '../support/authenticator.ts';
import { publicCtx } from '../support/databases.ts';
import { asOperator } from '../support/operator.ts';
import { asVisitor, login } from '../support/sign-in.ts';
import { type Change, registerTwoFactor, registerVerified, told } from './change.ts';

export const TWO_FACTOR: Change[] = [
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
        expected: told(
          ada,
          'Two-factor authentication is about to be turned off',
          'two_factor.request_reset',
        ),
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
];
