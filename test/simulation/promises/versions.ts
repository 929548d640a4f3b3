import type { Verdict } from '../../../src/shared/rules/verdict.ts';
import { isSuspendedAt, NODES, versionOf } from '../account.ts';
import type { Answer, Asked } from './asked.ts';
import type { Check } from './broken.ts';

// Once a change was answered, no call that begins afterwards shows the state before it. Everything that changes has versions,
// which answers show.

/** A license key isn't known yet (0), is a license's, or is one no more. */
export const [KNOWN, GONE] = [1, 2];

export const textOf = (licenseKey: string) => `the license key ${licenseKey}`;

export const openVersions = (check: Check) => {
  /** What callers and the seller were told. */
  let told: ReadonlyMap<string, number> = new Map();
  /** The latest versions that changes may have made, also changes whose outcome isn't known. */
  const possible = new Map<string, number>();

  const raise = (versions: ReadonlyMap<string, number>, of: string, version: number) =>
    Math.max(versions.get(of) ?? 0, version);

  const checkShown = ({ name, seen }: Asked, of: string, shown: number) => {
    const expected = seen.get(of) ?? 0;
    check(shown >= expected, () => `${name} shows version ${shown} of ${of} after ${expected} was answered`);
  };

  /** The versions of the account that an answer may go by. */
  const accountVersions = ({ seen }: Asked): number[] => {
    const first = seen.get('account') ?? 0;
    return Array.from({ length: (possible.get('account') ?? 0) - first + 1 }, (_, i) => first + i);
  };

  return {
    seen: () => told,
    possible: (of: string) => possible.get(of) ?? 0,

    /** A change is being made. */
    begins: (of: string, version: number) => {
      possible.set(of, raise(possible, of, version));
    },

    /** A change was answered. */
    tells: (of: string, version: number) => {
      possible.set(of, raise(possible, of, version));
      told = new Map(told).set(of, raise(told, of, version));
    },

    accountVersions,

    /** `limits` are the usage limits that the answer may go by. */
    answered: (asked: Asked, reply: Answer, limits: number[]) => {
      const { name, key, license, licenseKey, seen } = asked;
      if (reply.refused === 'api_key_invalid')
        check((possible.get(`key ${key}`) ?? 0) > 0, () => `${name} is refused for its key, which is valid`);
      if (reply.refused !== null) return;
      checkShown(asked, `key ${key}`, 0);
      const { verdict, apiLimit } = reply;
      check(limits.includes(apiLimit), () => `${name} shows the usage limit ${apiLimit} of an earlier plan`);
      const text = textOf(licenseKey);
      if (verdict.status === 'not_found') {
        const isRight = seen.get(text) !== KNOWN || possible.get(text) === GONE;
        return check(isRight, () => `${name} doesn't find ${text}`);
      }
      checkShown(asked, text, KNOWN);
      const version = versionOf(verdict.expires_at);
      checkShown(asked, `license ${license}`, version);
      const isSuspended = verdict.status === 'suspended';
      check(isSuspended === isSuspendedAt(version), () => `${name} mixes two versions of license ${license}`);
      const { entitlements } = verdict as Partial<Verdict>;
      if (license === NODES && entitlements)
        checkShown(asked, 'the product', Number(entitlements['version']));
    },
  };
};
