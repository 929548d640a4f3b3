// Sends what stores have to tell. As providers do, it sends again what got no 2xx.
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../../e2e/support/service.ts';
import { sign } from '../../stores/signing.ts';
import type { Delivery } from './purchases.ts';
import type { Seller } from './seller.ts';

const SENDERS = 8;
/** The time from one body of a sender to the next, at least. */
const PAUSE_MS = 50;
const AGAIN_MS = [500, 3_000] as const;
/** A body that was refused for so long won't be taken. A restart takes a few seconds. */
const GIVEN_UP_AFTER_MS = 120_000;

export interface Sent {
  /** When each body got its 2xx. */
  takenMs: number[];
  /** Requests that got no 2xx, by status. Those of status 0 got no answer. */
  refused: Map<number, number>;
}

const post = async (to: Service, { hooks }: Seller, { provider, body, topic }: Delivery): Promise<number> => {
  const { path, secret } = hooks.get(provider) ?? { path: '', secret: '' };
  try {
    const headers = sign(provider, secret, body, topic);
    const response = await fetch(to.origin + path, { method: 'POST', headers, body });
    await response.text();
    return response.status;
  } catch {
    // The service was killed before it answered.
    return 0;
  }
};

/** What a kill explains. A service that refuses a body for another reason won't take it later. */
const isPassing = (status: number) => status === 0 || status === 503;

export const nothingSent = (): Sent => ({ takenMs: [], refused: new Map() });

/** Returns once each body was answered with 2xx. `service` returns null while the service is down. */
export const sendAll = async (
  queue: Delivery[],
  seller: Seller,
  service: () => Service | null,
  { refused, takenMs }: Sent,
): Promise<void> => {
  const [minMs, maxMs] = AGAIN_MS;
  const send = async (delivery: Delivery) => {
    const startMs = Date.now();
    for (;;) {
      const to = service();
      const status = to && (await post(to, seller, delivery));
      if (status !== null && status >= 200 && status < 300) return void takenMs.push(Date.now());
      if (status !== null && !isPassing(status)) throw new Error(`${delivery.provider} got ${status}.`);
      if (Date.now() - startMs > GIVEN_UP_AFTER_MS) throw new Error(`${delivery.provider} got no 2xx.`);
      if (status !== null) refused.set(status, (refused.get(status) ?? 0) + 1);
      await delay(minMs + Math.random() * (maxMs - minMs));
    }
  };
  let next = 0;
  const sender = async () => {
    for (let delivery = queue[next++]; delivery; delivery = queue[next++])
      await Promise.all([send(delivery), delay(PAUSE_MS)]);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
};
