import { LoaderCircle, Search, X } from 'lucide-react';
import { useRef } from 'react';
import { cx } from './cx.ts';

export const SearchField = ({
  label,
  placeholder,
  text,
  isBusy,
  onType,
  onClear,
}: {
  label: string;
  placeholder: string;
  text: string;
  isBusy: boolean;
  onType: (text: string) => void;
  onClear: () => void;
}) => {
  const input = useRef<HTMLInputElement>(null);
  const clear = () => {
    onClear();
    input.current?.focus();
  };
  const Icon = isBusy ? LoaderCircle : Search;
  return (
    <div className="relative w-full md:w-80">
      <Icon
        aria-hidden
        className={cx(
          'pointer-events-none absolute top-2.5 left-3 size-4 text-muted',
          isBusy && 'animate-spin',
        )}
      />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={text}
        onChange={(event) => onType(event.currentTarget.value)}
        className="h-9 w-full rounded-lg border border-line-strong bg-surface px-9 text-base shadow-card outline-offset-0 transition-colors hover:border-muted focus-visible:border-brass-line max-sm:text-lg [&::-webkit-search-cancel-button]:hidden"
      />
      {text !== '' && (
        <button
          type="button"
          aria-label="Clear search"
          onClick={clear}
          className="absolute top-1.5 right-1.5 grid size-6 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink"
        >
          <X aria-hidden className="size-4" />
        </button>
      )}
    </div>
  );
};
