import { inject } from 'vitest';
import type { Received, Reply } from './receiver-server.ts';

/** Creates an inbox at the receiver, with its own path. */
export const newReceiver = async (...script: Reply[]) => {
  const server = inject('receiver');
  const path = crypto.randomUUID();
  const answers = async (...replies: Reply[]) => {
    await fetch(`${server}/script/${path}`, { method: 'PUT', body: JSON.stringify(replies) });
  };
  if (script.length > 0) await answers(...script);
  const received = async (): Promise<Received[]> => (await fetch(`${server}/inbox/${path}`)).json();
  return {
    url: `${server}/hooks/${path}`,
    answers,
    release: async () => {
      await fetch(`${server}/release/${path}`, { method: 'POST' });
    },
    received,
    /** Waits for at least `count` webhooks and returns all that have arrived. */
    receives: async (count: number, timeoutMs = 30_000): Promise<Received[]> => {
      const deadlineMs = performance.now() + timeoutMs;
      for (;;) {
        const all = await received();
        if (all.length >= count) return all;
        if (performance.now() > deadlineMs)
          throw new Error(`Only ${all.length} of ${count} webhooks arrived.`);
        await scheduler.wait(20);
      }
    },
  };
};
