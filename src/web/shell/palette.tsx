import { Dialog } from '@base-ui/react/dialog';
import { Search, X } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { plural } from '../lib/format.ts';
import { type Item, likeliest, narrow } from './palette/item.ts';
import { LIST_ID, optionId, Results } from './palette/results.tsx';
import { useCommands } from './palette/use-commands.tsx';
import { useFound } from './palette/use-found.tsx';

const Panel = ({ onDone }: { onDone: (chosen: Item | null) => void }) => {
  const [typed, setTyped] = useState('');
  const [pointedAt, setPointedAt] = useState<string | null>(null);
  const commands = useCommands();
  const found = useFound(typed);
  const fitting = typed.trim() === '' ? commands : narrow(commands, typed);
  const groups = [...fitting, ...found.groups];
  const items = groups.flatMap((group) => group.items);
  const active =
    items.find(({ id }) => id === pointedAt) ??
    (typed.trim() === '' ? items[0] : (likeliest(fitting, typed) ?? items[0]));

  const move = (step: 1 | -1) => {
    const at = items.findIndex((item) => item === active);
    const next = items[(at + step + items.length) % items.length];
    if (!next) return;
    setPointedAt(next.id);
    document.querySelector(`#${CSS.escape(optionId(next))}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const isToggle = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey);
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter' && active) onDone(active);
    else if (isToggle) onDone(null);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <div className="flex items-center gap-3 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-muted" />
        <input
          type="text"
          role="combobox"
          aria-label="Search or do"
          aria-expanded={items.length > 0}
          aria-controls={items.length > 0 ? LIST_ID : undefined}
          aria-activedescendant={active && optionId(active)}
          aria-autocomplete="list"
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          placeholder="Search licenses and webhooks, or do something"
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setPointedAt(null);
          }}
          onKeyDown={onKeyDown}
          className="h-13 min-w-0 flex-1 bg-transparent text-lg outline-none"
        />
        <Dialog.Close className="-mr-1 shrink-0 rounded p-1 text-muted hover:text-ink">
          <span className="sr-only">Close</span>
          <kbd className="rounded border border-line px-1.5 text-xs max-sm:hidden">Esc</kbd>
          <X aria-hidden className="size-5 sm:hidden" />
        </Dialog.Close>
      </div>
      <div className="flex h-[min(24rem,calc(100dvh-8rem))] flex-col">
        {items.length > 0 && (
          <Results
            groups={groups}
            active={active}
            onPoint={(item) => setPointedAt(item.id)}
            onChoose={onDone}
          />
        )}
        {items.length === 0 && (
          <p className="px-5 py-16 text-center break-words text-muted">
            {found.isSearching ? (
              'Searching…'
            ) : (
              <>
                Nothing found for <span className="text-ink">“{typed.trim()}”</span>.
              </>
            )}
          </p>
        )}
        {found.hasFailed && <p className="px-4 py-2 text-sm text-bad">Licenses could not be searched.</p>}
      </div>
      <p role="status" className="sr-only">
        {found.isSearching || typed.trim() === '' ? '' : plural(items.length, 'result')}
      </p>
    </>
  );
};

const focusMain = () => document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });

/** Everything by its name: pages, actions, and the account's licenses and webhooks. */
const Palette = ({ onClose }: { onClose: () => void }) => {
  const [isOpen, setOpen] = useState(true);
  const [opener] = useState(() => document.activeElement);
  const chosen = useRef<Item | null>(null);
  const done = (item: Item | null) => {
    chosen.current = item;
    setOpen(false);
  };
  const finish = () => {
    onClose();
    // Only when it is gone, so that what is opened now finds the focus where it is to return to.
    setTimeout(() => {
      if (document.activeElement === document.body) focusMain();
      chosen.current?.run();
    });
  };
  const returnsFocus = () =>
    !chosen.current?.leads && opener instanceof HTMLElement && opener.isConnected && opener.tabIndex >= 0;

  return (
    <Dialog.Root
      open={isOpen}
      onOpenChange={(open) => !open && done(null)}
      onOpenChangeComplete={(open) => !open && finish()}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-veil transition-opacity duration-100 data-starting-style:opacity-0" />
        <Dialog.Popup
          finalFocus={returnsFocus}
          className="fixed top-[max(1rem,12vh)] left-1/2 z-40 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-pop transition-[opacity,scale] duration-100 outline-none data-ending-style:transition-none data-starting-style:scale-98 data-starting-style:opacity-0"
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Panel onDone={done} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};

export default Palette;
