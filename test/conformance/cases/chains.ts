import { keySetOf } from '../../../src/tokens/jws.ts';
import type { PublicJwk, SigningKey } from '../../../src/tokens/keys.ts';
import { ACCOUNT, OTHER_ACCOUNT } from '../world.ts';
import { claimsOf, keyNumber, signAnything } from './signing.ts';

const linkOf = (older: SigningKey, newer: PublicJwk, changes: object = {}, header: object = {}) =>
  signAnything(
    older,
    { alg: 'EdDSA', typ: 'latchkey+keys', kid: older.jwk.kid, ...header },
    { aud: ACCOUNT, kid: newer.kid, crv: newer.crv, x: newer.x, ...changes },
  );

/** The chains that `GET /api/v1/jwks/{account_id}` may answer, and the keys that an application trusts afterwards. */
export const chainCases = async () => {
  const [first, second, third] = [await keyNumber(1), await keyNumber(2), await keyNumber(3)];
  const foreign = await keyNumber(1, OTHER_ACCOUNT);
  const { chain } = await keySetOf(ACCOUNT, [third, second, first]);
  const [toSecond = '', toThird = ''] = chain;
  const other = await keySetOf(OTHER_ACCOUNT, [await keyNumber(2, OTHER_ACCOUNT), foreign]);

  /** `trusts` are the numbers of the keys. The token is signed by the last one of them all. */
  const chainCase = async (name: string, links: unknown[], trusts: number[], pinned = [first]) => ({
    name,
    pinned: pinned.map(({ jwk }) => jwk.kid),
    chain: links,
    trusts: await Promise.all(trusts.map(async (number) => (await keyNumber(number)).jwk.kid)),
    result: trusts.includes(3) ? 'good' : 'kid',
  });
  return {
    about:
      'Chains of signing keys, and the keys that an application trusts once it has followed one from its pinned keys. Keys are named by their kid. result is that of the token.',
    account: ACCOUNT,
    keys: [first, second, third].map(({ jwk }) => jwk),
    token: await signAnything(
      third,
      { alg: 'EdDSA', typ: 'latchkey+jwt', kid: third.jwk.kid },
      claimsOf(),
    ),
    cases: [
      await chainCase('One rotation', [toSecond], [1, 2]),
      await chainCase('Two rotations', [toSecond, toThird], [1, 2, 3]),
      await chainCase('No rotation', [], [1]),
      await chainCase('An application whose pinned key is the second', [toSecond, toThird], [2, 3], [second]),
      await chainCase('An application that pins the newest key', [toSecond, toThird], [3], [third]),
      await chainCase('A link twice', [toSecond, toSecond, toThird], [1, 2, 3]),
      await chainCase('Other things between the links', [null, 5, 'x', toSecond, {}, { toString: 0 }, toThird], [1, 2, 3]),
      await chainCase('A link is missing', [toThird], [1]),
      await chainCase('A link with a changed signature', [`${toSecond.slice(0, -8)}AAAAAAAA`, toThird], [1]),
      await chainCase('A link of another type', [await linkOf(first, third.jwk, {}, { typ: 'latchkey+jwt' })], [1]),
      await chainCase('A link for another account', [await linkOf(first, third.jwk, { aud: OTHER_ACCOUNT })], [1]),
      await chainCase('A link to a key of another curve', [await linkOf(first, third.jwk, { crv: 'P-256' })], [1]),
      await chainCase('A link with a key of another account', [await linkOf(foreign, third.jwk)], [1]),
      await chainCase('A link under the name of the pinned key, signed by another', [
        await linkOf(foreign, third.jwk, {}, { kid: first.jwk.kid }),
      ], [1]),
      await chainCase('The chain of another account', other.chain, [1]),
      await chainCase('A link that gives a trusted key another value', [
        await linkOf(first, third.jwk, { kid: first.jwk.kid }),
      ], [1]),
    ],
  };
};
