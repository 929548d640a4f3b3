import { api, call } from './client.ts';
import { ApiError } from './error.ts';
import { refetch } from './query-client.ts';

// A tab follows what happens with one call at a time, which waits for the next event. Nothing is asked while nobody looks.

const WAIT_SECONDS = '25';
/** However many events arrive, a tab asks no more often than this. */
const PAUSE_MS = 2_000;
/** Whoever looks at a page sees it move again soon after an outage. */
const MAX_RETRY_MS = 10_000;
/** A glance at another tab interrupts nothing. */
const HIDDEN_MS = 60_000;

type Event = Awaited<ReturnType<typeof listen>>['data'][number];

const listen = (cursor: string | undefined, signal: AbortSignal) =>
  call(
    api.events.$get(
      { query: { verified: 'false', ...(cursor !== undefined && { cursor, wait: WAIT_SECONDS }) } },
      { init: { signal } },
    ),
  );

const licenseOf = ({ payload }: Event): unknown =>
  (JSON.parse(payload) as { license_id?: unknown }).license_id;

const LISTS: unknown[] = ['list', 'customers'];

/** Fetches again what is shown of the licenses, and the lists, counts, and purchases that they may be in. */
const refresh = (events: Event[]) => {
  const ids = new Set(events.map(licenseOf));
  void refetch({
    predicate: ({ queryKey: [root, kind, of] }) => {
      if (root !== 'licenses') return root === 'dashboard' || root === 'purchases';
      return LISTS.includes(kind) || [of].flat().some((id) => ids.has(id));
    },
  });
};

/** After a gap, everything may have changed. */
const refreshAll = () => {
  for (const root of ['licenses', 'dashboard', 'purchases'] as const) void refetch({ queryKey: [root] });
};

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      removeEventListener('online', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    addEventListener('online', end);
  });

const hasExpired = (error: unknown) => error instanceof ApiError && error.code === 'invalid_request';

const listenUntil = async (signal: AbortSignal) => {
  let cursor: string | undefined;
  let retryMs = PAUSE_MS;
  while (!signal.aborted) {
    try {
      const page = await listen(cursor, signal);
      cursor = page.next_cursor;
      retryMs = PAUSE_MS;
      if (page.data.length > 0) refresh(page.data);
    } catch (error) {
      if (hasExpired(error)) {
        cursor = undefined;
        refreshAll();
      } else retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
    }
    await pause(retryMs, signal);
  }
};

/** Follows the account's events while the tab is visible. Returns how to stop. */
export const follow = (): (() => void) => {
  let listening = new AbortController();
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const begin = () => {
    listening = new AbortController();
    void listenUntil(listening.signal);
  };
  const onVisibility = () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(() => listening.abort(), HIDDEN_MS);
    else if (listening.signal.aborted) {
      refreshAll();
      begin();
    }
  };
  document.addEventListener('visibilitychange', onVisibility);
  if (document.hidden) listening.abort();
  else begin();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(hiding);
    listening.abort();
  };
};
