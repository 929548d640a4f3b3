import type { Region } from '../../../src/shared/rules/regions.ts';
import type { Caller } from './calls.ts';
import { type Disk, type Image, openDisk } from './disk.ts';
import type { Start } from './load.ts';
import { Disconnected, type Place } from './network.ts';
import { openProcess, type Process } from './process.ts';
import type { Random } from './random.ts';
import { openStorage } from './storage.ts';
import { type Clock, openClock, type Time } from './time.ts';

const CLASSES = { GATE: 'AccountGate', BRANCH: 'GateBranch' } as const;
export type ClassName = keyof typeof CLASSES;

type Instance = Record<string, (...args: unknown[]) => unknown>;

interface Running {
  process: Process;
  disk: Disk;
  instance: Instance;
  /** Resolves when the object takes calls. */
  ready: () => Promise<void>;
}

/** A Durable Object. Its place is that of its clock and its disk. */
export interface SimulatedObject extends Place {
  name: string;
  className: ClassName;
  region: Region;
  clock: Clock;
  disk: Disk;
  running: Running | null;
  /** A process that was replaced goes on without knowing it, and the places of this kind still reach it. */
  replaced: { running: Running; from: string } | null;
  alarm: { atMs: number | null; cancel: () => void };
  /** How many alarms in a row have not come to their end. */
  failedAlarms: number;
  isRetryable: (method: string) => boolean;
}

interface Parts {
  time: Time;
  random: Random;
  start: Start;
  driftOf: (kind: string) => number;
  /** Without it, messages leave before what was written before them is confirmed. The platform always has it. */
  hasOutputGate: boolean;
  envFor: (process: Process, place: Place, isWritten: () => Promise<void>) => object;
  onStart: (object: SimulatedObject) => void;
  onClockSet: () => void;
  onError: (name: string, error: unknown) => void;
  onStrayWrite: (name: string, query: string) => void;
  log: (text: () => string) => void;
}

const COMMIT_MS = 12;
const ALARM_LATE_MS = 20;
const ALARM_RETRY_MS = 2_000;

/** Durable Objects as the platform runs them: a call or an alarm starts one, and its messages leave after its writes. */
export const openObjects = (parts: Parts) => {
  const { time, random, start, driftOf, hasOutputGate, envFor, onStart, onClockSet, onError, log } = parts;
  const objects = new Map<string, SimulatedObject>();
  let alarms = 0;

  const planAlarm = (object: SimulatedObject) => {
    const atMs = object.disk.dueAlarmMs();
    if (atMs === object.alarm.atMs) return;
    object.alarm.cancel();
    if (atMs === null) object.alarm = { atMs, cancel: () => {} };
    else {
      const retryMs = object.failedAlarms && ALARM_RETRY_MS * 2 ** object.failedAlarms;
      const inMs = object.clock.realMs(atMs - object.clock.nowMs()) + random.between(0, ALARM_LATE_MS);
      const cancel = time.after(Math.max(retryMs, inMs), () => void fireAlarm(object));
      object.alarm = { atMs, cancel };
    }
  };

  const newDisk = (name: string, image: Image | null) => {
    const commitMs = () => COMMIT_MS * random.between(0.7, 1.5);
    const onConfirmed = () => {
      const object = objects.get(name);
      if (object) planAlarm(object);
    };
    return openDisk({ time, commitMs, onConfirmed }, image);
  };

  const end = (object: SimulatedObject, reason: string) => {
    if (!object.running) return;
    log(() => `${object.name} ends: ${reason}`);
    object.running.process.end();
    object.running = null;
    object.disk.crash();
    planAlarm(object);
  };

  const run = (object: SimulatedObject): Running => {
    if (object.running) return object.running;
    log(() => `${object.name} starts`);
    onStart(object);
    const { name, className, clock, disk } = object;
    const process = openProcess({ name, time, clock, random, log });
    const { shipped, isRetryable } = start(process.globals);
    let ready = Promise.resolve();
    let isConstructed = false;
    const ctx = {
      id: { name },
      storage: openStorage(disk, process.isOver, (query) => {
        if (isConstructed) parts.onStrayWrite(name, query);
      }),
      waitUntil: (work: Promise<unknown>) => void work.catch((error: unknown) => onError(name, error)),
      abort: (reason: string) => {
        if (!process.isOver()) onError(name, new Error(reason));
        if (object.running?.process === process) end(object, reason);
        else process.end();
      },
      blockConcurrencyWhile: <T>(work: () => Promise<T>): Promise<T> => {
        const result = ready.then(work);
        const isReady = async () => {
          await result;
        };
        ready = isReady();
        return result;
      },
    };
    const env = envFor(process, object, () => (hasOutputGate ? disk.isWritten() : Promise.resolve()));
    const Class = shipped[CLASSES[className]] as unknown as new (ctx: unknown, env: unknown) => Instance;
    object.running = { process, disk, instance: {}, ready: () => ready };
    const instance = new Class(ctx, env);
    isConstructed = true;
    Object.assign(object.running, { instance });
    object.isRetryable = (method) => isRetryable(instance[method]);
    return object.running;
  };

  const fireAlarm = async (object: SimulatedObject) => {
    alarms++;
    object.alarm = { atMs: null, cancel: () => {} };
    object.disk.beginAlarm();
    try {
      const { process, disk, instance, ready } = run(object);
      const work = async () => {
        await ready();
        await instance['alarm']?.();
      };
      await Promise.race([work(), process.ended]);
      object.failedAlarms = process.isOver() ? object.failedAlarms + 1 : 0;
      if (!process.isOver()) disk.endAlarm();
    } catch (error) {
      onError(object.name, error);
      object.failedAlarms++;
      end(object, 'its alarm failed');
    }
  };

  const get = (className: ClassName, name: string, region: Region): SimulatedObject => {
    const known = objects.get(name);
    if (known) return known;
    const kind = className === 'GATE' ? 'home' : (name.split('@')[1] ?? '');
    const object: SimulatedObject = {
      name,
      className,
      kind,
      region,
      clock: openClock(time, driftOf(kind)),
      disk: newDisk(name, null),
      running: null,
      replaced: null,
      alarm: { atMs: null, cancel: () => {} },
      failedAlarms: 0,
      isRetryable: () => false,
    };
    objects.set(name, object);
    return object;
  };

  return {
    get,
    ofKind: (kind: string) => [...objects.values()].filter((object) => object.kind === kind),
    alarms: () => alarms,

    /** Lets an object answer a call. Throws `Disconnected` if its process ends meanwhile. */
    receive: async (
      object: SimulatedObject,
      from: Place,
      method: string,
      args: unknown[],
    ): Promise<unknown> => {
      const { replaced } = object;
      const isMisled = replaced?.from === from.kind && !replaced.running.process.isOver();
      const running = isMisled ? replaced.running : run(object);
      const { process, disk, instance } = running;
      const answer = async () => {
        await running.ready();
        if (!Object.hasOwn(Object.getPrototypeOf(instance) as object, method))
          throw new TypeError(`The object has no method ${method}.`);
        const result = structuredClone(await instance[method]?.(...args));
        if (hasOutputGate) await disk.isWritten();
        return result;
      };
      const cutOff = async () => {
        await process.ended;
        throw new Disconnected();
      };
      return Promise.race([answer(), cutOff()]);
    },

    /** Whether a process that was replaced still has the connection of this one to another place. */
    isShadowed: ({ place, process }: Pick<Caller, 'place' | 'process'>, to: Place): boolean => {
      const replaced = [...objects.values()].find((object) => object === place)?.replaced;
      if (!replaced || replaced.running.process.isOver()) return false;
      return replaced.from === to.kind && replaced.running.process !== process;
    },

    end,

    /** Starts another process in the place of the one that runs, which those of a kind still reach until it writes. */
    replace: (object: SimulatedObject, from: string) => {
      const { running } = object;
      if (!running || object.replaced) return;
      log(() => `${object.name} is replaced`);
      object.replaced = { running, from };
      const image = object.disk.fence(() => running.process.end());
      object.running = null;
      object.disk = newDisk(object.name, image);
      planAlarm(object);
    },

    /** Ends the processes that were replaced. */
    endReplaced: () => {
      for (const object of objects.values()) {
        object.replaced?.running.process.end();
        object.replaced = null;
      }
    },

    setClock: (object: SimulatedObject, byMs: number) => {
      object.clock.set(byMs);
      onClockSet();
      object.alarm.atMs = null;
      planAlarm(object);
    },

    endTurn: () => {
      for (const { disk, replaced } of objects.values()) {
        disk.endTurn();
        replaced?.running.disk.endTurn();
      }
    },
  };
};
