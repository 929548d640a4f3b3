import { createLicenseOn } from '../../../src/client/core/license.ts';
import type { Fetch, License, LicenseState, PinnedKeys, Store } from '../../../src/client/core/types.ts';
import type { Delivery } from '../../conformance/double/network.ts';
import type { Application, ClientCall, MachineEvent, StoreEvent } from '../../conformance/sequences/words.ts';
import { API_KEY, FINGERPRINT, ORIGIN, PRODUCT } from '../../conformance/world.ts';
import { work } from '../support/work.ts';
import type { VirtualTime } from './virtual-time.ts';

const never = new Promise<never>(() => {});

/** The store of a machine, whose programs take turns. */
const createStore = () => {
  let text: string | null = null;
  let copy: string | null = null;
  let fault: 'works' | 'fails' | 'full' | 'hangs' = 'works';
  let turn: Promise<unknown> = Promise.resolve();

  const attempt = (isWrite: boolean): void | Promise<never> => {
    if (fault === 'hangs') return never;
    const code = fault === 'fails' ? 'EACCES' : fault === 'full' && isWrite ? 'ENOSPC' : null;
    if (code) throw Object.assign(new Error(code), { code });
  };

  return {
    apply: ({ store }: StoreEvent): void => {
      if (store === 'saved') copy = text;
      else if (store === 'restored') text = copy;
      else if (store === 'lost') text = null;
      else if (store === 'broken') text = '{"licenseKey":';
      else fault = store;
    },

    /** The store as a program has it. A program that was killed hears nothing more, and holds no lock. */
    of: (isDead: () => boolean, died: Promise<void>): Store => {
      const alive = async <T>(value: T): Promise<T> => (isDead() ? never : value);
      return {
        get: async () => {
          await attempt(false);
          return alive(text);
        },
        set: async (next) => {
          await attempt(true);
          text = await alive(next);
        },
        lock: (update) => {
          const updated = turn.then(update, update);
          turn = Promise.race([updated.catch(() => {}), died]);
          return updated;
        },
      };
    },
  };
};

/** How a request reaches the double of the service. */
export type Deliver = (request: Request) => Promise<Delivery>;

interface Program {
  license: License;
  kill: () => void;
  /** Whether a listener was told that the license isn't valid, since this was asked the last time. */
  wasInvalid: () => boolean;
}

/** A machine with programs that use the client package. */
export const createMachine = (
  time: VirtualTime,
  deliver: Deliver,
  keys: PinnedKeys,
  { fingerprint = FINGERPRINT, product = PRODUCT, release_date, heartbeat }: Application,
  random: () => number,
) => {
  const store = createStore();
  const programs = new Map<string, Program>();
  let aheadMs = 0;

  const open = (): Program => {
    let isDead = false;
    let die = () => {};
    const died = new Promise<void>((resolve) => {
      die = resolve;
    });
    const send: Fetch = async (url, { method, headers, body }) => {
      const delivery = await work(deliver(new Request(url, { method, headers, ...(body && { body }) })));
      if (delivery === 'silence' || isDead) return never;
      if (delivery === 'cut') throw new TypeError('fetch failed');
      return { status: delivery.status, headers: delivery.headers, text: () => work(delivery.text()) };
    };
    const license = createLicenseOn(
      {
        baseUrl: ORIGIN,
        apiKey: API_KEY,
        keys,
        product: product ?? undefined,
        releaseDate: release_date,
        fingerprint: fingerprint ?? undefined,
        heartbeat,
        store: store.of(() => isDead, died),
        fetch: send,
        now: () => time.nowMs() + aheadMs,
      },
      {
        setTimer: (run, ms) => time.setTimer(() => isDead || run(), ms),
        clearTimer: time.clearTimer,
        random,
        platform: 'linux',
      },
    );
    const kill = () => {
      isDead = true;
      die();
    };
    let told = false;
    license.onChange(({ valid }) => {
      told ||= !valid;
    });
    const wasInvalid = () => {
      const was = told;
      told = false;
      return was;
    };
    return { license, kill, wasInvalid };
  };

  /** The program, which begins with the first call. */
  const programOf = ({ program = 'first' }: { program?: string }): Program => {
    const running = programs.get(program) ?? open();
    programs.set(program, running);
    return running;
  };
  const end = ({ program = 'first' }: { program?: string }) => {
    programs.get(program)?.kill();
    programs.delete(program);
  };

  const call = async (
    event: ClientCall,
    files: Map<string, string>,
  ): Promise<LicenseState> => {
    const { license } = programOf(event);
    switch (event.call) {
      case 'activate': {
        const { license_key, lease_seconds: leaseSeconds } = event;
        const replace = event.replace ? license.state.machines?.[0]?.id : undefined;
        return license.activate(license_key, { replace, ...(leaseSeconds && { leaseSeconds }) });
      }
      case 'load_file':
        return license.loadFile(files.get(event.file) ?? '', { replace: event.replace });
      case 'state':
        return license.state;
      case 'stop': {
        const state = await license.stop();
        end(event);
        return state;
      }
      default:
        return license[event.call]();
    }
  };

  return {
    call,
    /** Whether the license has been valid all the time since this was asked the last time. */
    isUnbroken: (event: ClientCall) => !programOf(event).wasInvalid(),
    store: store.apply,
    happen: (event: MachineEvent): void => {
      if (event.machine === 'kill') end(event);
      else if (event.machine === 'clock') aheadMs = event.ahead_seconds * 1_000;
      else time[event.machine]();
    },
    end: () => {
      for (const { kill } of programs.values()) kill();
    },
  };
};
