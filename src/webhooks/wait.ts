import { limitReached } from '../shared/app-error.ts';
import type { outboxOf } from '../shared/objects/address.ts';

// A call that waits for an event must not keep the outbox awake, which is billed by the second, as a pending RPC would.
// So it waits on a WebSocket, which the outbox can forget while it hibernates, and closes when an event arrives.

export interface EventWait {
  /** The number of the block after which an event counts. */
  after: number;
  waitMs: number;
  /** How many calls of the account may wait at a time, of those by session or of those by API key. */
  limit: number;
  by: 'session' | 'api_key';
  /** Whether `license.verified` counts. */
  verified: boolean;
}

type SentWait = Omit<EventWait, 'by' | 'verified'> & Partial<Pick<EventWait, 'by' | 'verified'>>;

export const REFUSED = 403;

const toUrl = (wait: EventWait) => `https://outbox/?wait=${encodeURIComponent(JSON.stringify(wait))}`;

/** Returns the wait that a request to the outbox asks for. A Worker of the previous release says less. */
export const readWait = (request: Request): EventWait => ({
  by: 'api_key',
  verified: true,
  ...(JSON.parse(new URL(request.url).searchParams.get('wait') ?? '') as SentWait),
});

/** Resolves when an event has arrived, when the time is over, or when there is nothing to wait for, or nowhere. */
export const waitForEvent = async (outbox: ReturnType<typeof outboxOf>, wait: EventWait): Promise<void> => {
  // An outbox that restarts can't hold the socket. The caller then reads what there is.
  const begun = await outbox.fetch(toUrl(wait), { headers: { upgrade: 'websocket' } }).catch(() => null);
  if (!begun) return;
  const { status, webSocket } = begun;
  if (status === REFUSED)
    throw limitReached('listeners', `At most ${wait.limit} clients wait for events at a time on this plan.`);
  if (!webSocket) return;
  webSocket.accept();
  let timer;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, wait.waitMs);
    for (const name of ['close', 'error'] as const) webSocket.addEventListener(name, () => resolve());
  });
  clearTimeout(timer);
  webSocket.close();
};
