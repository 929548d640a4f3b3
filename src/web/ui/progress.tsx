/** The progress of work, as `text` or in percent. */
export const Progress = ({
  label,
  share,
  text = `${Math.floor(share * 100)}%`,
}: {
  label: string;
  /** From 0 to 1. */
  share: number;
  text?: string;
}) => (
  <div className="grid gap-1.5">
    <p className="flex justify-between gap-4 text-sm">
      <span>{label}</span>
      <span className="nums text-muted">{text}</span>
    </p>
    <progress
      aria-label={label}
      value={share}
      className="block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-brass-line [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-brass-line"
    />
  </div>
);
