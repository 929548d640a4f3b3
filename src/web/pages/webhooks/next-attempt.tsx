import { formatExact, formatRelative } from '../../lib/format.ts';
import { Tip } from '../../ui/tip.tsx';
import { useNow } from '../../ui/time.tsx';

const words = (at: string, nowMs: number) => {
  const leftMs = Date.parse(at) - nowMs;
  if (leftMs <= 10_000) return 'in seconds';
  return leftMs < 60_000 ? 'in under a minute' : formatRelative(at, nowMs);
};

/** Of a pending delivery; null is one that is being sent. */
export const NextAttempt = ({ at }: { at: string | null }) => {
  const nowMs = useNow();
  if (at === null) return 'being sent';
  return (
    <Tip text={formatExact(at)}>
      <time dateTime={at} className="nums whitespace-nowrap">
        {words(at, nowMs)}
      </time>
    </Tip>
  );
};
