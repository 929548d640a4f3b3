import { Autocomplete } from '@base-ui/react/autocomplete';
import type { Group, Item } from './ranking.ts';

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

export const Results = ({ onChoose }: { onChoose: (item: Item) => void }) => (
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
