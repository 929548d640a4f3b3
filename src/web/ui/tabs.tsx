import { formatCount } from '../lib/format.ts';
import { cx } from './cx.ts';
import { Skeleton } from './skeleton.tsx';

/** A row of buttons, one of which is chosen. */
export const Segments = <Value extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: Value;
  choices: { value: Value; label: string; count?: number | 'loading' | undefined }[];
  onChoose: (value: Value) => void;
}) => (
  <div
    role="group"
    aria-label={label}
    className="flex max-w-full gap-0.5 overflow-x-auto rounded-lg bg-line/60 p-0.5"
  >
    {choices.map((choice) => (
      <button
        key={choice.value}
        type="button"
        aria-pressed={choice.value === value}
        onClick={() => onChoose(choice.value)}
        className={cx(
          'h-8 rounded-md px-2.5 text-sm whitespace-nowrap transition-colors',
          choice.value === value ? 'bg-surface font-medium shadow-card' : 'text-muted hover:text-ink',
        )}
      >
        {choice.label}
        {choice.count === 'loading' && <Skeleton className="ml-1.5 inline-block h-2.5 w-2" />}
        {typeof choice.count === 'number' && (
          <span className="nums ml-1.5 text-xs text-muted">{formatCount(choice.count)}</span>
        )}
      </button>
    ))}
  </div>
);
