import type { CallName } from '../../shared/rules/verdict.ts';
import { openCalls, type Result } from './calls.ts';
import { check, checkType, DEFAULT_RUNTIME, readOptions, type Runtime, within } from './options.ts';
import { openSchedule } from './schedule.ts';
import { openSession } from './session.ts';
import type { ActivateOptions, License, LicenseOptions, LicenseState } from './types.ts';

const MAX_NAME_LENGTH = 100;
const MIN_LEASE_SECONDS = 60;
/** How long stop() waits for a verify that has been sent, because it is paid for. */
const STOP_MS = 2_000;
/** A license key with another verdict is stored, so that the user needn't type it again. */
const isWrongKey = (code: string) => code === 'not_found' || code === 'wrong_product';

/** Creates a license on a given platform. */
export const createLicenseOn = (options: LicenseOptions, changes: Partial<Runtime>): License => {
  const settings = readOptions(options);
  const runtime = { ...DEFAULT_RUNTIME, ...changes };
  const session = openSession(settings, runtime);
  const call = openCalls(settings, runtime, session);
  const schedule = openSchedule(settings, runtime, session, {
    refresh: () => void refresh(true),
    heartbeat: () => void share('heartbeat', heartbeat),
  });

  /** Calls in progress. A call that is made again meanwhile shares the first one's result. */
  let shared = new Map<string, Promise<LicenseState>>();
  const share = (name: string, run: () => Promise<LicenseState>): Promise<LicenseState> => {
    const calls = shared;
    const running = calls.get(name);
    if (running) return running;
    const started = run().finally(() => calls.delete(name));
    calls.set(name, started);
    return started;
  };

  /** What the user asked for runs one after another, and ends verifies and heartbeats in progress. */
  let turn: Promise<unknown> = Promise.resolve();
  let background = new AbortController();
  let foreground = new AbortController();
  const inTurn = (run: (signal: AbortSignal) => Promise<LicenseState>): Promise<LicenseState> => {
    background.abort();
    background = new AbortController();
    const { signal } = foreground;
    const ran = turn.then(() => run(signal));
    turn = ran.catch(() => {});
    return ran;
  };

  const conclude = async (name: CallName, licenseKey: string, result: Result): Promise<LicenseState> => {
    if (result.answer) await session.take(result.answer, licenseKey, name === 'activate');
    session.note();
    schedule.next(name, result);
    if (result.answer) void leave();
    return session.settle();
  };

  /** Without a license key there is nothing to ask, but a store that fails may have one, and is read again. */
  const idle = (): LicenseState => {
    void leave();
    if (session.settle().problem?.kind === 'store') schedule.next('verify', { retryAfterMs: 0 });
    return session.settle();
  };

  /** Makes calls in the background, unless there is no license key to make them with. */
  const inBackground = async (
    run: (licenseKey: string, signal: AbortSignal) => Promise<[name: CallName, result: Result]>,
  ): Promise<LicenseState> => {
    const { signal } = background;
    await turn;
    await session.update();
    const licenseKey = session.licenseKey();
    if (licenseKey === null) return idle();
    const [name, result] = await run(licenseKey, signal);
    if (!signal.aborted) return conclude(name, licenseKey, result);
    await turn;
    return session.note();
  };

  /** What nobody has asked for waits until the service wants to be asked again. */
  const verify = async (licenseKey: string, signal: AbortSignal, isPatient = true): Promise<Result> =>
    (isPatient && schedule.pause()) || call('verify', licenseKey, {}, signal);

  /** Gives back the seats of license keys that were replaced. Until that is done, each start and refresh tries it. */
  const leave = () =>
    share('leave', async () => {
      const { signal } = background;
      const give = async (licenseKey: string) => {
        const { code } = await call('deactivate', licenseKey, {}, signal, true);
        if (code === 'deactivated') await session.left(licenseKey);
      };
      // At the same time, because what is left may be taken again later.
      await Promise.all((await session.leaving()).map(give));
      return session.settle();
    });

  const refresh = (isPatient: boolean) =>
    share('refresh', () =>
      inBackground(async (licenseKey, signal) => ['verify', await verify(licenseKey, signal, isPatient)]),
    );

  /** A machine whose lease has lapsed gets its seat back with a verify, but not with a heartbeat. */
  const heartbeat = () =>
    inBackground(async (licenseKey, signal) => {
      const beat = await call('heartbeat', licenseKey, {}, signal);
      const isDue = beat.code === 'verify_due' || beat.answer?.verdict.claims.code === 'not_activated';
      const verified = isDue ? await verify(licenseKey, signal) : null;
      if (verified?.answer || (verified && !beat.answer)) return ['verify', verified];
      return ['heartbeat', { ...beat, ...verified }];
    });

  const activate = async (
    typed: string | undefined,
    { replace, name, leaseSeconds }: ActivateOptions,
    signal: AbortSignal,
  ) => {
    await session.update();
    const licenseKey = typed ?? session.proposed();
    if (!licenseKey) return session.settle();
    session.propose(licenseKey);
    const more = { replace, name: name?.slice(0, MAX_NAME_LENGTH), lease_seconds: leaseSeconds };
    const result = await call('activate', licenseKey, more, signal);
    const { answer } = result;
    const isStored = await session.isStoredKey(licenseKey, answer);
    const isKept = session.wasValid();
    if (!answer) {
      schedule.next('activate', result);
      const state = session.note();
      return state.valid && isStored ? state : session.view(null, 'inconclusive');
    }
    const { claims } = answer.verdict;
    if (claims.valid || isStored || !(isKept || isWrongKey(claims.code)))
      return conclude('activate', licenseKey, result);
    // Calls for the stored license key that this one has ended are made again.
    schedule.next('activate', { retryAfterMs: result.retryAfterMs });
    // A license key that isn't good doesn't replace one that is.
    return isKept ? session.view(answer.verdict, claims.code) : session.show(answer.verdict);
  };

  const deactivate = async (signal: AbortSignal) => {
    await session.update();
    const licenseKey = session.licenseKey();
    if (licenseKey === null) return session.release();
    const result = await call('deactivate', licenseKey, {}, signal);
    schedule.next('deactivate', result);
    if (result.code === 'deactivated') await session.release();
    void leave();
    return session.settle();
  };

  return {
    get state() {
      return session.settle();
    },
    start: () =>
      share('start', async () => {
        const begun = foreground;
        const state = await session.update();
        // stop() replaces it at once, and aborts it later.
        if (begun !== foreground) return state;
        schedule.run(true);
        if (session.licenseKey() === null) return idle();
        const restMs = session.restMs();
        if (restMs > 0) {
          schedule.rest(restMs);
          return state;
        }
        const refreshed = refresh(true);
        return state.valid ? state : refreshed;
      }),
    activate: async (typed, options = {}) => {
      const { replace = '', name = '', leaseSeconds = MIN_LEASE_SECONDS } = options;
      checkType('string', { 'The license key': typed ?? '', replace, name });
      const isLease = Number.isInteger(leaseSeconds) && leaseSeconds >= MIN_LEASE_SECONDS;
      check(isLease, 'leaseSeconds', 'a whole number from 60');
      const licenseKey = typed?.trim();
      // Nothing is asked, so nothing in progress may end.
      return licenseKey === ''
        ? session.view(null, 'key_missing')
        : share(JSON.stringify([licenseKey, options]), () =>
            inTurn((signal) => activate(licenseKey, options, signal)),
          );
    },
    loadFile: async (token, { replace } = {}) => {
      checkType('string', { 'The offline file': token });
      // Mail programs wrap long lines.
      const state = await session.loadFile(token.replace(/\s/g, ''), replace);
      void leave();
      return state;
    },
    forget: () => share('forget', () => inTurn(session.forget)),
    refresh: () => refresh(false),
    deactivate: () => share('deactivate', () => inTurn(deactivate)),
    stop: async () => {
      schedule.run(false);
      const ended = shared;
      const active = foreground;
      const idle = background;
      // A call that is made before they end is a new one.
      shared = new Map();
      foreground = new AbortController();
      background = new AbortController();
      const verified = Promise.all([ended.get('refresh'), ended.get('leave')]);
      // Otherwise, programs that end at once would pay for verifies whose answers never arrive.
      await within(runtime, STOP_MS, verified).catch(() => {});
      active.abort();
      idle.abort();
      await Promise.allSettled(ended.values());
      return session.update();
    },
    has: (name) => Boolean(session.entitlement(name)),
    entitlement: session.entitlement,
    onChange: (listener) => {
      checkType('function', { 'The listener': listener });
      return session.listen(listener);
    },
  };
};

export const createLicense = (options: LicenseOptions): License => createLicenseOn(options, {});
