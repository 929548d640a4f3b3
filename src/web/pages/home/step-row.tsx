import { Check, ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../ui/cx.ts';

interface StepRowProps {
  title: string;
  isDone?: boolean;
  /** The step that opens by itself. */
  isNext?: boolean;
  /** Nothing else waits for the step. */
  isOptional?: boolean;
  isOpen: boolean;
  canOpen?: boolean;
  onOpen: () => void;
  children: ReactNode;
}

const Mark = ({ isDone, isNext }: { isDone: boolean; isNext: boolean }) => (
  <span
    aria-hidden
    className={cx(
      'grid size-5 shrink-0 place-items-center rounded-full border',
      isDone
        ? 'border-transparent bg-good-soft text-good'
        : isNext
          ? 'border-2 border-brass-line'
          : 'border-line-strong',
    )}
  >
    {isDone && <Check className="size-3.5" />}
  </span>
);

/** A step of the checklist, with its instructions while it is open. */
export const StepRow = ({
  title,
  isDone = false,
  isNext = false,
  isOptional = false,
  isOpen,
  canOpen = true,
  onOpen,
  children,
}: StepRowProps) => (
  <li className={cx(isOpen && 'bg-canvas/60')}>
    <button
      type="button"
      aria-expanded={canOpen ? isOpen : undefined}
      disabled={!canOpen}
      onClick={onOpen}
      className="flex min-h-11 w-full items-center gap-3 px-5 py-2 text-left"
    >
      <Mark isDone={isDone} isNext={isNext} />
      <span className={cx('flex-1', isDone ? 'text-muted' : 'font-medium')}>
        {title}
        {isDone && <span className="sr-only"> (done)</span>}
        {isOptional && <span className="font-normal text-muted"> (optional)</span>}
      </span>
      {canOpen && !isOpen && <ChevronDown aria-hidden className="size-4 text-muted" />}
    </button>
    {isOpen && (
      <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] justify-items-start gap-3 px-5 pb-5 text-muted sm:pl-13">
        {children}
      </div>
    )}
  </li>
);
