import { beforeEach, describe, expect, test } from 'vitest';
import { outcomeOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { withToken } from '../support/sign-in.ts';
import {
  challengeIn,
  CUSTOMER,
  entriesFor,
  guessCodes,
  NEW_PASSWORD,
  newOwner,
  resetByMail,
  tokenIn,
  VARIANTS,
} from './owner.ts';

beforeEach(() => useFakeClock());

const THIEFS_PASSWORD = 'a thief’s password';

describe('whoever has only the mailbox', () => {
  test('takes the account without two-factor, until the owner has the mailbox back', async () => {
    const ada = await newOwner({ hasTwoFactor: false });
    const thief = tokenIn(await resetByMail(ada.email, THIEFS_PASSWORD));
    const { data } = (await withToken(thief, 'GET', '/api/v1/licenses')).body;
    expect(data).toMatchObject([{ customer_email: CUSTOMER }]);
    await ada.isTold('Your password has changed');
    expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('401 invalid_session');
    expect(outcomeOf(await ada.signIn())).toBe('401 invalid_credentials');

    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    expect(outcomeOf(await withToken(thief))).toBe('401 invalid_session');
    expect(await entriesFor(owner, 'password.reset')).toHaveLength(2);
  });

  test('reads nothing with two-factor, and the owner gets in with a code', async () => {
    const ada = await newOwner({ hasTwoFactor: true });
    const reset = await resetByMail(ada.email, THIEFS_PASSWORD);
    expect(outcomeOf(reset)).toBe('401 two_factor_required');
    await guessCodes(challengeIn(reset), 5);
    await ada.isTold('Wrong codes after your password');
    expect(outcomeOf(await ada.signIn())).toBe('401 invalid_credentials');

    const owner = tokenIn(await ada.reset(NEW_PASSWORD));
    expect(await entriesFor(owner, 'two_factor.fail')).toHaveLength(1);
    expect(await entriesFor(owner, 'password.reset')).toHaveLength(2);
  });

  test.for(VARIANTS)('leaves API keys alone, $name', async (variant) => {
    const ada = await newOwner(variant);
    await resetByMail(ada.email, THIEFS_PASSWORD);
    expect(outcomeOf(await ada.asKey('GET', '/api/v1/licenses'))).toBe('200 ok');
  });
});
