// Runs plans in a worker thread, one at a time, and collects unexpected responses.
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Outcome, Plan } from './plan.ts';

export interface Load {
  run: (plan: Plan) => Promise<Outcome>;
  /** Returns a summary of the unexpected responses so far. */
  wrong: () => string[];
  stop: () => Promise<void>;
}

export const startLoad = (): Load => {
  const thread = new Worker(join(import.meta.dirname, 'thread.ts'));
  const wrong: string[] = [];
  return {
    run: async (plan) => {
      const answer = once(thread, 'message') as Promise<[{ outcome?: Outcome; error?: string }]>;
      thread.postMessage(plan, []);
      const [{ outcome, error }] = await answer;
      if (!outcome) throw new Error(error ?? 'The load thread returned no outcome.');
      if (outcome.wrong > 0) {
        const line = new TextDecoder().decode(plan.request.template).split('\r\n')[0];
        wrong.push(
          `${line}: ${outcome.wrong} of ${outcome.calls} responses, the first: ${outcome.firstWrong}`,
        );
      }
      return outcome;
    },
    wrong: () => wrong,
    stop: async () => {
      await thread.terminate();
    },
  };
};
