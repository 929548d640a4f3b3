import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_NAMES } from '../../../shared/rules/events.ts';
import type { ApiClient } from '../../api/client.ts';
import type { components } from '../../api/schema.ts';
import { command } from '../command.ts';
import { answer } from '../connection.ts';
import { toOrigin } from '../context.ts';
import { CliError, networkReason } from '../failure.ts';
import type { Output } from '../output.ts';
import { clean } from '../table.ts';

type Event = components['schemas']['NewEvents']['data'][number];

const WAIT_SECONDS = 25;
/** Keeps a busy account's polls below the rate limit of its key. */
const PAUSE_MS = 250;
const MAX_RETRY_MS = 30_000;
const FORWARD_TIMEOUT_MS = 15_000;

/** The same secret at each start with the same API key, so that the receiver can keep it. It doesn't reveal the key. */
const signingSecret = (apiKey: string): string =>
  `whsec_${createHmac('sha256', apiKey).update('latchkey webhooks listen').digest('base64')}`;

/** Signed according to Standard Webhooks, as the service does. */
const signatureHeaders = (secret: string, { id, payload }: Event) => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
};

const forward = async (url: string, secret: string, event: Event) => {
  const startMs = performance.now();
  const durationMs = () => Math.round(performance.now() - startMs);
  try {
    const { status, body } = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
      headers: { 'content-type': 'application/json', ...signatureHeaders(secret, event) },
      body: event.payload,
    });
    await body?.cancel();
    return { status, error: null, duration_ms: durationMs() };
  } catch (error) {
    return { status: null, error: networkReason(error), duration_ms: durationMs() };
  }
};

const isExpired = (error: unknown) =>
  error instanceof CliError &&
  error.code === 'invalid_request' &&
  error.details.some(({ path }) => path === 'cursor');

/** The limit is of clients that wait at the same time. */
const isPassing = (error: unknown) =>
  error instanceof CliError &&
  (['unreachable', 'limit_reached'].includes(error.code) ||
    error.status === 429 ||
    (error.status ?? 0) >= 500);

interface Listening {
  client: ApiClient;
  out: Output;
  signal: AbortSignal;
  /** The events to have, or all of them. */
  names: string[] | undefined;
}

/** Calls `onEvents` with the account's events as they arrive, and with none once listening has started. */
const listen = async (
  { client, out, signal, names }: Listening,
  onEvents: (events: Event[]) => Promise<void>,
): Promise<void> => {
  const isWanted = (name: string) => names?.includes(name) ?? true;
  // The service makes license.verified only for those who want it. A busy account has more than a client can follow.
  const kinds = isWanted('license.verified') ? {} : { verified: 'false' as const };
  let cursor: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const query = { ...kinds, ...(cursor !== undefined && { cursor, wait: WAIT_SECONDS }) };
      const page = await answer(client.GET('/api/events', { params: { query }, signal }));
      failures = 0;
      await onEvents(page.data.filter(({ event }) => isWanted(event)));
      cursor = page.next_cursor;
      await delay(PAUSE_MS, undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      if (isExpired(error)) {
        out.warn('There was no contact for too long. Events in the meantime were not forwarded.');
        cursor = undefined;
      } else if (isPassing(error)) {
        if (failures === 0) out.warn(`${(error as CliError).message} Trying again.`);
        await delay(Math.min(1_000 * 2 ** failures++, MAX_RETRY_MS), undefined, { signal }).catch(() => {});
      } else throw error;
    }
  }
};

const readNames = (text: string): string[] => {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !EVENT_NAMES.some((known) => known === name));
  if (unknown === undefined) return names;
  throw new CliError(`There is no event ${unknown} to listen for. The events are ${EVENT_NAMES.join(', ')}.`);
};

export const listenForWebhooks = command({
  name: 'webhooks listen',
  args: [],
  summary: 'Forward the account’s events to a local URL',
  details: [
    'Prints each event, and posts it to the URL as a webhook would, once and without retries.',
    'The signing secret is the same at each start with the same API key. With --json, prints a line for each event.',
  ],
  options: {
    'forward-to': { value: 'URL', help: 'The local URL, such as http://localhost:8000/hooks' },
    events: { value: 'NAMES', help: 'Only these events, separated by commas' },
  },
  run: async ({ out, api, requireKey }, _args, { 'forward-to': url, events }) => {
    if (url !== undefined) toOrigin(url);
    const names = events === undefined ? undefined : readNames(events);
    const client = await api();
    const secret = signingSecret(await requireKey());
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
    let hasStarted = false;

    await listen({ client, out, signal: stopped.signal, names }, async (page) => {
      if (!hasStarted) {
        hasStarted = true;
        if (out.isJson) out.jsonLine({ type: 'listening', forward_to: url ?? null, secret });
        else out.text(`Listening for events. Press Ctrl+C to stop.\nSigning secret: ${secret}`);
      }
      for (const event of page) {
        const result = url === undefined ? null : await forward(url, secret, event);
        if (out.isJson) {
          const { payload, ...fields } = event;
          out.jsonLine({
            type: 'event',
            ...fields,
            payload: JSON.parse(payload) as unknown,
            forwarded: result,
          });
          continue;
        }
        const { green, red, dim } = out.colors;
        const isOk = result !== null && result.status !== null && result.status >= 200 && result.status < 300;
        const outcome =
          result &&
          ` ${(isOk ? green : red)(String(result.status ?? result.error))} ${dim(`${result.duration_ms} ms`)}`;
        out.text(
          `${dim(event.created_at)} ${event.event} ${event.id}${outcome ?? `\n${clean(event.payload)}`}`,
        );
      }
    });
    return 0;
  },
});
