import { useSyncExternalStore } from 'react';
import { formatExact, formatRelative } from '../lib/format.ts';
import { Tip } from './tip.tsx';

const TICK_MS = 5_000;

const subscribe = (listener: () => void) => {
  const timer = setInterval(listener, TICK_MS);
  return () => clearInterval(timer);
};
const now = () => Math.floor(Date.now() / TICK_MS) * TICK_MS;

/** Returns the current time, rounded down to `TICK_MS`, and rerenders when it changes. */
export const useNow = (): number => useSyncExternalStore(subscribe, now);

/** A relative time, with the exact time as its tooltip. */
export const Time = ({ at }: { at: string }) => {
  const nowMs = useNow();
  return (
    <Tip text={formatExact(at)}>
      <time dateTime={at} className="nums whitespace-nowrap">
        {formatRelative(at, nowMs)}
      </time>
    </Tip>
  );
};
