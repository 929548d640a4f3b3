import { formatExact, formatRelative } from '../../lib/format.ts';
import { useNow } from '../../ui/time.tsx';
import { Tip } from '../../ui/tip.tsx';

const timeLeftText = (at: string, nowMs: number) => {
  const leftMs = Date.parse(at) - nowMs;
  if (leftMs <= 10_000) return 'in a few seconds';
  return leftMs < 60_000 ? 'in under a minute' : formatRelative(at, nowMs);
};

/** The time of a pending delivery's next attempt; null while an attempt is in progress. */
export const NextAttempt = ({ at }: { at: string | null }) => {
  const nowMs = useNow();
  if (at === null) return 'sending now';
  return (
    <Tip text={formatExact(at)}>
      <time dateTime={at} className="nums whitespace-nowrap">
        {timeLeftText(at, nowMs)}
      </time>
    </Tip>
  );
};
