import { formatCount } from '../lib/format.ts';

/** The progress of work whose amount is known. */
export const Progress = ({ label, done, total }: { label: string; done: number; total: number }) => (
  <div className="grid gap-1.5">
    <p className="flex justify-between gap-4 text-sm">
      <span>{label}</span>
      <span className="nums text-muted">
        {formatCount(done)} of {formatCount(total)}
      </span>
    </p>
    <progress
      aria-label={label}
      value={done}
      max={total}
      className="block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-brass-line [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-brass-line"
    />
  </div>
);
