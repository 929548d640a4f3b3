import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

const ARE_PARKED = Symbol.for('latchkey.alarms-are-parked');

const HOUR_MS = 3_600_000;
const FAR_MS = 100 * 365 * 24 * HOUR_MS;

/**
 * Lets no alarm run by itself whose time, by a clock that a test has set, is long past. The runtime would run it at once, so that
 * what a test sees would change once the day has come on which it plays.
 */
export const parkAlarms = async (): Promise<void> => {
  if (ARE_PARKED in globalThis) return;
  Object.defineProperty(globalThis, ARE_PARKED, { value: true });
  const realNow = Date.now;
  const prototype = await runInDurableObject(
    env.BRANCH.getByName('any'),
    (_branch, { storage }) => Object.getPrototypeOf(storage) as DurableObjectStorage,
  );
  const getAlarm = Reflect.get(prototype, 'getAlarm');
  const setAlarm = Reflect.get(prototype, 'setAlarm');
  prototype.setAlarm = async function (time, options) {
    const atMs = Number(time);
    await setAlarm.call(this, atMs < realNow() - HOUR_MS ? atMs + FAR_MS : atMs, options);
  };
  prototype.getAlarm = async function (options) {
    const atMs = await getAlarm.call(this, options);
    return atMs !== null && atMs > FAR_MS ? atMs - FAR_MS : atMs;
  };
};
