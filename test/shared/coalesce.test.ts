import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coalesce } from '../../src/shared/objects/coalesce.ts';

test('coalesce runs the first call immediately, and calls during a run share the next run', async () => {
  let runs = 0;
  let finish = () => {};
  const run = coalesce(() => {
    runs++;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  const first = run();
  expect(runs).toBe(1);
  const later = [run(), run(), run()];
  expect(runs).toBe(1);
  finish();
  await first;
  await Promise.resolve();
  expect(runs).toBe(2);
  finish();
  await Promise.all(later);
  expect(runs).toBe(2);
});

test('coalesce resolves callers when the job is done, and the next run waits for the cleanup', async () => {
  const order: string[] = [];
  let finish = () => {};
  const run = coalesce(
    async () => void order.push('job'),
    () => new Promise((resolve) => (finish = resolve)),
  );
  await run();
  const next = run().then(() => order.push('answered'));
  await Promise.resolve();
  expect(order).toEqual(['job']);
  finish();
  await next;
  expect(order).toEqual(['job', 'job', 'answered']);
});

test('coalesce never overlaps runs, and each caller’s run sees what was written before the call', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }),
      async (scheduler, failures) => {
        let written = 0;
        let seen = 0;
        let running = 0;
        let runs = 0;
        const run = coalesce(async () => {
          expect(++running).toBe(1);
          const fails = failures[runs++ % failures.length];
          const snapshot = written;
          await scheduler.schedule(Promise.resolve(), 'work');
          running--;
          if (fails) throw new Error('this run fails');
          seen = Math.max(seen, snapshot);
        });
        const callers = failures.map(async (_, i) => {
          await scheduler.schedule(Promise.resolve(), `caller ${i}`);
          const mine = ++written;
          const failed = await run().then(
            () => false,
            () => true,
          );
          expect(failed || seen >= mine).toBe(true);
        });
        await scheduler.waitFor(Promise.all(callers));
        expect(running).toBe(0);
      },
    ),
    { seed: 4, numRuns: 200 },
  );
});
