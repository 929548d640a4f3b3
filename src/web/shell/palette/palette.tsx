import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { Search, X } from 'lucide-react';
import { type RefObject, useRef, useState } from 'react';
import { plural } from '../../lib/format.ts';
import { type Group, type Item, match } from './ranking.ts';
import { useCommands } from './use-commands.tsx';
import { useSearchResults } from './use-search-results.tsx';

const Result = ({ item, onChoose }: { item: Item; onChoose: (item: Item) => void }) => (
  <Autocomplete.Item
    value={item}
    onClick={() => onChoose(item)}
    className="flex min-h-10 scroll-mt-9 scroll-mb-2 items-center gap-3 rounded-lg px-3 py-1.5 select-none data-highlighted:bg-line [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted"
  >
    {item.icon}
    <span className="min-w-0 flex-1">
      {item.label ?? <span className="block truncate">{item.name}</span>}
    </span>
    {item.aside && <span className="shrink-0 text-sm text-muted">{item.aside}</span>}
  </Autocomplete.Item>
);

const Results = ({ onChoose }: { onChoose: (item: Item) => void }) => (
  <Autocomplete.List
    aria-label="Results"
    className="min-h-0 scroll-py-1.5 overflow-y-auto overscroll-contain p-1.5 outline-none data-empty:hidden"
  >
    {(group: Group) => (
      <Autocomplete.Group key={group.name} items={group.items} className="mb-1.5">
        <Autocomplete.GroupLabel className="px-3 pt-2 pb-1 text-xs font-medium text-muted">
          {group.name}
        </Autocomplete.GroupLabel>
        <Autocomplete.Collection>
          {(item: Item) => <Result key={item.id} item={item} onChoose={onChoose} />}
        </Autocomplete.Collection>
      </Autocomplete.Group>
    )}
  </Autocomplete.List>
);

interface PanelProps {
  onChoose: (item: Item) => void;
  /** Returns what was typed before the field had the focus. */
  takeTyped: () => string;
}

const Panel = ({ onChoose, takeTyped }: PanelProps) => {
  const [typed, setTyped] = useState('');
  const commands = useCommands();
  const found = useSearchResults(typed);
  const isBlank = typed.trim() === '';
  const groups = [...(isBlank ? commands : match(commands, typed)), ...found.groups];
  const count = groups.reduce((sum, { items }) => sum + items.length, 0);

  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      autoHighlight="always"
      keepHighlight
      items={groups}
      itemToStringValue={({ name }: Item) => name}
      value={typed}
      onValueChange={(text, { reason }) => {
        if (reason !== 'item-press') setTyped(text);
      }}
    >
      <div className="flex items-center gap-3 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-muted" />
        <Autocomplete.Input
          aria-label="Search pages, actions, licenses, products, and webhooks"
          autoCorrect="off"
          onFocus={() => {
            const before = takeTyped();
            setTyped((text) => before + text);
          }}
          placeholder="Search pages, actions, licenses, products, and webhooks"
          className="h-13 min-w-0 flex-1 bg-transparent text-lg outline-none"
        />
        <Dialog.Close className="-mr-1 shrink-0 rounded p-1 text-muted hover:text-ink">
          <span className="sr-only">Close</span>
          <kbd className="rounded border border-line px-1.5 text-xs max-sm:hidden">Esc</kbd>
          <X aria-hidden className="size-5 sm:hidden" />
        </Dialog.Close>
      </div>
      <div className="flex h-[min(24rem,calc(100dvh-8rem))] flex-col">
        <Results onChoose={onChoose} />
        <Autocomplete.Empty className="px-5 py-16 text-center break-words text-muted empty:hidden">
          {found.isSearching ? (
            'Searching…'
          ) : (
            <>
              Nothing found for <span className="text-ink">“{typed.trim()}”</span>.
            </>
          )}
        </Autocomplete.Empty>
        {found.hasFailed && <p className="px-4 py-2 text-sm text-bad">The license search failed.</p>}
      </div>
      <Autocomplete.Status className="sr-only">
        {isBlank || found.isSearching || count === 0 ? '' : plural(count, 'result')}
      </Autocomplete.Status>
    </Autocomplete.Root>
  );
};

const focusMain = () => document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });

const Popup = ({ chosen, ...panel }: PanelProps & { chosen: RefObject<Item | null> }) => {
  const [opener] = useState(() => document.activeElement);
  const returnsFocus = () =>
    !chosen.current?.opensPage && opener instanceof HTMLElement && opener.isConnected && opener.tabIndex >= 0;

  return (
    <Dialog.Popup
      finalFocus={returnsFocus}
      className="fixed top-[max(1rem,12vh)] left-1/2 z-40 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-pop transition-[opacity,scale] duration-100 outline-none data-ending-style:transition-none data-starting-style:scale-98 data-starting-style:opacity-0"
    >
      <Dialog.Title className="sr-only">Search</Dialog.Title>
      <Panel {...panel} />
    </Dialog.Popup>
  );
};

interface PaletteProps extends Pick<PanelProps, 'takeTyped'> {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** Finds pages, actions, and the account's licenses, products, and webhooks by name. */
const Palette = ({ isOpen, onOpenChange, takeTyped }: PaletteProps) => {
  const chosen = useRef<Item | null>(null);
  const choose = (item: Item) => {
    chosen.current = item;
    onOpenChange(false);
  };
  const finish = () => {
    const item = chosen.current;
    chosen.current = null;
    // Runs after the palette is gone, so that a dialog that the item opens later returns the focus to the page.
    setTimeout(() => {
      if (document.activeElement === document.body) focusMain();
      item?.run();
    });
  };

  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange} onOpenChangeComplete={(open) => !open && finish()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-veil transition-opacity duration-100 data-starting-style:opacity-0" />
        <Popup chosen={chosen} onChoose={choose} takeTyped={takeTyped} />
      </Dialog.Portal>
    </Dialog.Root>
  );
};

export default Palette;
