import { cx } from './cx.ts';

/** One of a few, as a row of buttons. */
export const Segments = <Value extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: Value;
  choices: { value: Value; label: string; count?: number | undefined }[];
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
        {choice.count !== undefined && <span className="nums ml-1.5 text-xs text-muted">{choice.count}</span>}
      </button>
    ))}
  </div>
);
