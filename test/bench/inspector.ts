// Reads the JavaScript heap of a Worker that was started with an inspector.
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
  // The inspector requires an Origin header. Node's WebSocket accepts headers, although its types don't.
  const options = { headers: { origin: 'http://localhost' } } as unknown as string[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '', options);
  await once(socket, 'open');
  let lastId = 0;
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const send = async (method: string, params: object = {}): Promise<unknown> => {
    if (socket.readyState !== WebSocket.OPEN) throw new Error('The inspector closed the connection.');
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const id = ++lastId;
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await promise;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return {
    send,
    /** Returns the heap size after a garbage collection. */
    heapBytes: async (): Promise<number> => {
      const collected = send('HeapProfiler.collectGarbage').then(() => true);
      // An idle runtime collects garbage only when the next request arrives.
      const call = async () => {
        await (await fetch(`${origin}/api/nothing-here`)).text();
        await delay(50);
        return false;
      };
      while (!(await Promise.race([collected, call()])));
      const { usedSize } = (await send('Runtime.getHeapUsage')) as { usedSize: number };
      return usedSize;
    },
    close: () => socket.close(),
  };
};
