import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coalesce } from '../../src/shared/coalesce.ts';

test('the first caller’s run starts at once and those who come meanwhile share the next', async () => {
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

test('callers have what they came for when the job is done, and the next run waits for its rest', async () => {
  const said: string[] = [];
  let finish = () => {};
  const run = coalesce(
    async () => void said.push('job'),
    () => new Promise((resolve) => (finish = resolve)),
  );
  await run();
  const next = run().then(() => said.push('answered'));
  await Promise.resolve();
  expect(said).toEqual(['job']);
  finish();
  await next;
  expect(said).toEqual(['job', 'job', 'answered']);
});

test('what was done before calling is seen by the run waited for, and no two runs overlap, though some fail', async () => {
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
