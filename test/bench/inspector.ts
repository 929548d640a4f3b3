// The JavaScript heap of a Worker that was started with its inspector on.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from './runtime.ts';

interface Reply {
  id: number;
  result?: unknown;
  error?: { message: string };
}

export const openInspector = async ({ miniflare, origin }: Runtime) => {
  const { host } = await miniflare.getInspectorURL();
  const targets = (await (await fetch(`http://${host}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  // It turns away who names no page; that Node's client takes headers is more than the types know.
  const asPage = { headers: { origin: 'http://localhost' } } as unknown as string[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '', asPage);
  await once(socket, 'open');
  let lastId = 0;
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const ask = async (method: string, params: object = {}): Promise<unknown> => {
    if (socket.readyState !== WebSocket.OPEN) throw new Error('The inspector has hung up.');
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const id = ++lastId;
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await promise;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return {
    ask,
    /** After a collection of garbage: what is really held. */
    heapBytes: async (): Promise<number> => {
      const collected = ask('HeapProfiler.collectGarbage').then(() => true);
      // A runtime at rest does not get to it before the next requests.
      const call = async () => {
        await (await fetch(`${origin}/api/nothing-here`)).text();
        await delay(50);
        return false;
      };
      while (!(await Promise.race([collected, call()])));
      const { usedSize } = (await ask('Runtime.getHeapUsage')) as { usedSize: number };
      return usedSize;
    },
    close: () => socket.close(),
  };
};
