import { userTokens } from '../../src/db/schema.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { codeAt } from './authenticator.ts';
import { type Account, register } from './client.ts';
import { publicCtx } from './databases.ts';

const STEP_MS = 30_000;

/** Turns two-factor authentication on. `code` returns the current code, or one of other steps. */
export const enableTwoFactor = async <T extends Account>(account: T) => {
  const { secret, otpauth_url: url } = (await account.asSession('POST', '/api/two-factor')).body;
  const code = (steps = 0) => codeAt(secret, Date.now() + steps * STEP_MS);
  const confirmed = await account.asSession('POST', '/api/two-factor/confirm', { code: code() });
  return {
    ...account,
    secret: secret as string,
    url: url as string,
    code,
    recoveryCodes: confirmed.body.recovery_codes as string[],
    /** Starts a challenge as a login does, without checking the password. */
    challenge: async () => {
      const { token, row } = newUserToken(publicCtx, account.accountId, 'two_factor');
      await publicCtx.firstDb.insert(userTokens).values(row);
      return token;
    },
  };
};

/** A new account with two-factor authentication on. */
export const registerTwoFactor = async () => enableTwoFactor(await register());
