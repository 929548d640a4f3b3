// The load thread. It is separate because the main thread receives webhooks and watches runtimes.
import { parentPort } from 'node:worker_threads';
import { type Answer, openConnection } from './connection.ts';
import type { Outcome, Plan, Request } from './plan.ts';

const INITIAL_CAPACITY = 65_536;

/** Returns a function that fills the places in the request of one connection. */
const filler = (places: Request['places']) => {
  const turns = places.map(() => 0);
  return (request: Uint8Array) => {
    places.forEach(({ offset, values: { width, bytes }, outOf, draw }, place) => {
      const turn = turns[place] ?? 0;
      turns[place] = turn + 1;
      const index = draw === 'random' ? Math.floor(Math.random() * outOf) : turn % outOf;
      request.set(bytes.subarray(index * width, (index + 1) * width), offset);
    });
  };
};

const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

const run = async ({ port, request, expect, connections, calls, durationMs }: Plan): Promise<Outcome> => {
  const { promise: done, resolve: finish, reject: fail } = Promise.withResolvers<void>();
  const fill = filler(request.places);
  let latenciesMs = new Float64Array(Math.min(calls, INITIAL_CAPACITY));
  let started = 0;
  let answered = 0;
  let wrong = 0;
  let firstWrong: string | null = null;
  let startMs = 0;

  const note = (latencyMs: number, { status, body }: Answer) => {
    if (answered === latenciesMs.length) {
      const larger = new Float64Array(latenciesMs.length * 2);
      larger.set(latenciesMs);
      latenciesMs = larger;
    }
    latenciesMs[answered++] = latencyMs;
    if (status === expect.status && body.includes(expect.text)) return;
    wrong++;
    firstWrong ??= `${status} ${body.slice(0, 300)}`;
  };

  const open = async () => {
    const bytes = new Uint8Array(request.template);
    let sentMs = 0;
    const next = () => {
      if (started >= calls || performance.now() - startMs >= durationMs) {
        if (answered === started) finish();
        return;
      }
      started++;
      fill(bytes);
      sentMs = performance.now();
      connection.send(bytes);
    };
    const onAnswer = (answer: Answer) => {
      note(performance.now() - sentMs, answer);
      next();
    };
    const connection = await openConnection(port, onAnswer, fail);
    return { next, close: connection.close };
  };

  const opened = await Promise.all(Array.from({ length: connections }, open));
  startMs = performance.now();
  for (const { next } of opened) next();
  await done;
  const seconds = (performance.now() - startMs) / 1_000;
  for (const { close } of opened) close();
  const sorted = latenciesMs.subarray(0, answered).toSorted();
  return {
    calls: answered,
    callsPerSecond: answered / seconds,
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    wrong,
    firstWrong,
  };
};

const send = (message: { outcome: Outcome } | { error: string }) => parentPort?.postMessage(message, []);

parentPort?.on('message', (plan: Plan) => {
  run(plan).then(
    (outcome) => send({ outcome }),
    (error: unknown) => send({ error: String(error) }),
  );
});
