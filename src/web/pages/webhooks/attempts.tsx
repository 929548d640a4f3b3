import { ChevronRight } from 'lucide-react';
import type { DeliveryBody } from '../../data/webhook-queries.ts';
import { formatCount, formatExact } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Time } from '../../ui/time.tsx';

type Attempt = DeliveryBody['attempts'][number];

const durationText = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

const Response = ({ attempt, number }: { attempt: Attempt; number: number }) => {
  if (attempt.response === null) return null;
  if (attempt.response === '') return <p className="text-muted">The response had no body.</p>;
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={`Response body of attempt ${number}`}
      className="max-h-60 overflow-auto rounded-lg border border-line bg-sunken p-3 text-xs leading-5 break-words whitespace-pre-wrap"
    >
      <code>{attempt.response}</code>
    </pre>
  );
};

const Item = ({ attempt, number, isOpen }: { attempt: Attempt; number: number; isOpen: boolean }) => (
  <li>
    <details open={isOpen} className="group">
      <summary className="flex min-h-11 cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2 text-sm hover:bg-hover focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 text-muted transition-transform group-open:rotate-90"
        />
        <span className="nums text-muted">Attempt {number}</span>
        <Badge tone={attempt.error === null ? 'good' : 'bad'}>{attempt.status_code ?? 'No response'}</Badge>
        <span className="nums text-muted">{durationText(attempt.duration_ms)}</span>
        <span className="ml-auto text-muted">
          <Time at={attempt.time} />
        </span>
      </summary>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 px-5 pt-1 pb-4 pl-12 text-sm">
        <p className="nums text-muted">{formatExact(attempt.time)}</p>
        {attempt.error !== null && <p className="text-bad first-letter:uppercase">{attempt.error}</p>}
        <Response attempt={attempt} number={number} />
      </div>
    </details>
  </li>
);

/** A delivery's attempts, newest first. */
export const Attempts = ({ attempts }: Pick<DeliveryBody, 'attempts'>) => (
  <>
    <h3 className="px-5 pt-4 pb-2 text-sm font-medium">
      Attempts <span className="nums text-muted">{formatCount(attempts.length)}</span>
    </h3>
    {attempts.length === 0 ? (
      <p className="px-5 pb-4 text-sm text-muted">No attempts yet.</p>
    ) : (
      <ol reversed className="divide-y divide-line border-y border-line">
        {attempts
          .map((attempt, index) => (
            <Item
              key={attempt.time}
              attempt={attempt}
              number={index + 1}
              isOpen={index === attempts.length - 1}
            />
          ))
          .toReversed()}
      </ol>
    )}
  </>
);
