import type { Claims } from '../../shared/rules/tokens.ts';
import {
  type Answer,
  answered,
  dropped,
  filed,
  leavingIn,
  left,
  renewMark,
  type Switched,
} from './changes.ts';
import { conclude, NOTHING, openChecks, timeOf } from './holding.ts';
import type { ClientSettings, Runtime } from './options.ts';
import type { LicenseRecord } from './record.ts';
import { openCurrent, toState } from './state.ts';
import { type Change, openStorage } from './storage.ts';
import type { TokenReason } from './token.ts';
import type { EntitlementValue, LicenseCode, LicenseProblem, LicenseState } from './types.ts';
import { type KnownVerdict, lastMs, storedVerdict } from './verdicts.ts';

// What is known about the license: what is held, what calls have said, and the state that follows from them and the time.

/** Why an offline file is refused, in a code that the application knows. */
const FILE_CODES: Partial<Record<TokenReason, LicenseCode>> = {
  fp: 'not_activated',
  product: 'wrong_product',
};
const OTHER_LICENSE: LicenseProblem = {
  kind: 'config',
  message: 'Another license is valid. Pass replace: true.',
};
const HOUR_MS = 3_600_000;
/** A license that is renewed on its last day is verified so long before its end. */
export const RENEWAL_MS = 30 * 60_000;

export type Session = ReturnType<typeof openSession>;

export const openSession = (settings: ClientSettings, runtime: Runtime) => {
  const { now } = settings;
  const releaseDate = settings.application.release_date;
  const checks = openChecks(settings);
  const { ring, check } = checks;
  let holding = NOTHING;
  /** A license key that was passed to `activate` and hasn't become the stored one. */
  let candidate: string | null = null;
  /** Why the last call failed. */
  let failure: LicenseProblem | null = null;
  const switched: Switched = { answeredAt: NaN, iat: NaN };
  let isLoaded = false;
  let hasAsked = false;
  /** The difference between the time that counts and the machine's own. */
  let shiftMs = 0;

  const view = (
    verdict: KnownVerdict | null,
    code: LicenseCode,
    why = storage.problem() ?? failure,
  ): LicenseState => {
    const isBehind = code === 'clock_rolled_back';
    return toState(verdict, code, {
      problem: isBehind ? { kind: 'clock', message: 'The clock is behind.' } : why,
      machine: runtime.machine,
    });
  };

  /** Brings the state up to date with the time, and tells the listeners about a change. */
  const settle = (): LicenseState => {
    const { record } = holding;
    const conclusion = conclude(holding, releaseDate, now());
    shiftMs = conclusion?.shiftMs ?? record.offsetMs;
    if (conclusion) {
      holding = { ...holding, record: { ...record, markMs: conclusion.markMs } };
      return current.set(view(conclusion.verdict, conclusion.code));
    }
    const asked = hasAsked ? 'inconclusive' : 'loading';
    const unreleased = isLoaded && (candidate ?? record.licenseKey) === null ? 'key_missing' : asked;
    return current.set(view(null, record.isReleased ? 'deactivated' : unreleased));
  };

  const storage = openStorage(settings, runtime, checks, {
    holding: () => holding,
    adopt: ({ record, ...rest }) => {
      // What is stored has the links to each key that may have signed it. An earlier release may need others, which this one
      // can't follow.
      holding = { ...rest, record: { ...record, chain: [...new Set([...record.chain, ...ring.links])] } };
      isLoaded = true;
      return { isValid: settle().valid, record: holding.record };
    },
  });
  const current = openCurrent(view(null, 'loading'));

  const update = async (change?: Change, isForced?: boolean): Promise<LicenseState> => {
    await storage.update(change, isForced);
    return settle();
  };

  /** How often to verify: well before the end of a token of one day, unless a lease ends it, which heartbeats keep. */
  const periodMs = () => {
    const { exp = 0, iat, lease_until } = (holding.verdict?.claims ?? {}) as Partial<Claims>;
    return (exp - 86_400 === iat && exp !== lease_until ? 16 : 24) * HOUR_MS;
  };

  const timeNow = () => now() + shiftMs;

  /** Whether a good token is about another license than the key's. */
  const isOther = async (token: string, licenseKey: string): Promise<boolean> =>
    (await check(token, licenseKey, {})) === 'lk';

  const drop = (more?: Partial<LicenseRecord>) => {
    candidate = null;
    return update(dropped(more), true);
  };

  return {
    ring,
    check,
    update,
    settle,
    view,
    timeNow,
    /** The license key that verifies and heartbeats are made with. */
    licenseKey: () => (holding.record.isReleased ? null : holding.record.licenseKey),
    /** Whether the last word on the license was a yes. If it has ended, or the clock is wrong, the license may still be good. */
    wasValid: () => (holding.verdict ?? holding.file)?.claims.valid,
    /** The license key that was passed last, or is stored. */
    proposed: () => candidate ?? holding.record.licenseKey,
    /** Whether the license key, perhaps in another spelling, is the stored one. */
    isStoredKey: async (licenseKey: string, answer: Answer | undefined): Promise<boolean> => {
      const { licenseKey: storedKey } = holding.record;
      if (licenseKey === storedKey || !answer || storedKey === null) return licenseKey === storedKey;
      return !(await isOther(answer.token, storedKey));
    },

    /** When the verdict ends by itself, in the machine's time. */
    endsAt: () => {
      const { valid, offlineUntil } = current.get();
      return Number((valid && offlineUntil) || Infinity) - shiftMs;
    },

    /** When the license ends, in the machine's time. */
    licenseEndsAt: () => lastMs(holding.verdict?.claims ?? {}) - shiftMs,

    periodMs,

    /**
     * How long a stored token needs no verify after a start: programs that run for seconds would pay for each run. A lease
     * is renewed at once. An older token doesn't say whether it has one.
     */
    restMs: (): number => {
      const { source, valid } = current.get();
      const claims = holding.verdict?.claims;
      return source === 'stored' && valid && claims?.lease_until === null
        ? Math.min(claims.iat * 1_000 + periodMs() / 1.2, lastMs(claims) - RENEWAL_MS) - timeNow()
        : 0;
    },

    entitlement: (name: string): EntitlementValue | undefined => {
      const { entitlements } = settle();
      return Object.hasOwn(entitlements, name) ? entitlements[name] : undefined;
    },

    listen: current.listen,

    propose: (licenseKey: string) => {
      candidate = licenseKey;
    },

    /** No answer said anything about the license. */
    note: (): LicenseState => {
      hasAsked = true;
      return settle();
    },

    /** Applies a signed answer about a license key. */
    take: (answer: Answer, licenseKey: string, isActivation: boolean) => {
      if (isActivation) candidate = null;
      return update(
        answered(answer, licenseKey, { isActivation, switched, ownMs: now(), releaseDate }),
        isActivation,
      );
    },

    /** Shows a refusal of a license key that isn't stored. */
    show: (verdict: KnownVerdict): LicenseState => {
      holding = { ...holding, verdict };
      return settle();
    },

    report: (next: LicenseProblem | null): void => {
      failure = next;
    },

    /** Takes an offline file, or returns a state that says why it isn't good. */
    loadFile: async (token: string, replace?: boolean): Promise<LicenseState> => {
      const { valid } = await update();
      const claims = await check(token, null, { kind: 'offline' });
      if (typeof claims === 'string') return view(null, FILE_CODES[claims] ?? 'file_invalid');
      const { record, file: held } = holding;
      const { licenseKey } = record;
      const isAnother =
        (licenseKey !== null && (await isOther(token, licenseKey))) ||
        (held !== null && held.claims.lk !== claims.lk);
      if (isAnother && valid && !replace) {
        return Object.freeze({ ...current.get(), problem: OTHER_LICENSE });
      }
      const file = storedVerdict(claims);
      const time = timeOf(file, renewMark(record, claims), releaseDate, now());
      if (typeof time === 'string') return view(file, time);
      if (isAnother) candidate = null;
      return update(filed(token, claims, isAnother), true);
    },

    /** The license keys whose seats have to be given back. Another spelling of the present one is none of them. */
    leaving: async (): Promise<string[]> => {
      const { record } = holding;
      const held = record.token ?? record.file;
      const keys = leavingIn(record);
      if (held === null) return record.isReleased ? keys : [];
      const isLeft = await Promise.all(keys.map((key) => isOther(held, key)));
      return keys.filter((_, index) => isLeft[index]);
    },
    left: (licenseKey: string) => update(left(licenseKey)),

    forget: () => drop({ licenseKey: null, leaving: null, isReleased: false }),
    release: () => drop(),
  };
};
