// The isolates of a local runtime. Miniflare's D1, queues and sockets are Workers beside the service in the same process:
// each keeps tens of MiB of garbage until V8 collects it, which hides what the service itself keeps.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

interface Reply {
  id: number;
  result?: unknown;
  error?: { message: string };
}

interface Target {
  id: string;
  webSocketDebuggerUrl: string;
}

export interface Isolate {
  id: string;
  send: (method: string) => Promise<unknown>;
  close: () => void;
}

const openIsolate = async ({ id, webSocketDebuggerUrl }: Target): Promise<Isolate> => {
  // The inspector requires an Origin header. Node's WebSocket accepts headers, although its types don't.
  const options = { headers: { origin: 'http://localhost' } } as unknown as string[];
  const socket = new WebSocket(webSocketDebuggerUrl, options);
  await once(socket, 'open');
  let lastId = 0;
  const waiting = new Map<number, PromiseWithResolvers<Reply>>();
  const closedError = () => new Error(`The inspector closed its connection to ${id}.`);
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id)?.resolve(reply);
    waiting.delete(reply.id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(closedError());
  });
  const send = async (method: string): Promise<unknown> => {
    if (socket.readyState !== WebSocket.OPEN) throw closedError();
    const reply = Promise.withResolvers<Reply>();
    const commandId = ++lastId;
    waiting.set(commandId, reply);
    socket.send(JSON.stringify({ id: commandId, method }));
    const { result, error } = await reply.promise;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return { id, send, close: () => socket.close() };
};

const LIST_TIMEOUT_MS = 2_000;

/** Connects to the isolates that the inspector at `host` lists. An isolate has one session, and the last to connect gets it. */
export const openIsolates = async (
  host: string,
  isWanted: (id: string) => boolean = () => true,
): Promise<Isolate[]> => {
  const response = await fetch(`http://${host}/json`, { signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
  const targets = (await response.json()) as Target[];
  return Promise.all(targets.filter(({ id }) => isWanted(id)).map(openIsolate));
};

const COLLECT_TIMEOUT_MS = 1_000;

/** An isolate runs a command with its next request. An isolate that is idle doesn't reply, and creates no garbage. */
export const collectGarbage = async (isolates: Isolate[]): Promise<void> => {
  const collected = isolates.map(({ send }) => send('HeapProfiler.collectGarbage'));
  await Promise.race([Promise.all(collected), delay(COLLECT_TIMEOUT_MS)]);
};
