import { runInDurableObject } from 'cloudflare:test';
import { waitUntil } from './wait-until.ts';

/**
 * Returns a function that waits until the objects have restarted since. Takes functions, because a stub is of no use
 * after a restart of its object.
 */
export const watchRestarts = async (...stubs: (() => DurableObjectStub)[]) => {
  const before = new WeakSet<object>();
  const look = <T>(stub: () => DurableObjectStub, read: (instance: object) => T) =>
    runInDurableObject(stub(), (instance) => read(instance));
  for (const stub of stubs) await look(stub, (instance) => before.add(instance));
  const hasRestarted = (stub: () => DurableObjectStub) =>
    look(stub, (instance) => !before.has(instance)).catch(() => false);
  return async () => {
    for (const stub of stubs) await waitUntil(() => hasRestarted(stub));
  };
};
