import { cx } from '../../ui/cx.ts';
import type { Group, Item } from './item.ts';

export const LIST_ID = 'palette-results';
export const optionId = (item: Item) => `palette-${item.id}`;

const Option = ({
  item,
  isActive,
  onPoint,
  onChoose,
}: {
  item: Item;
  isActive: boolean;
  onPoint: () => void;
  onChoose: () => void;
}) => (
  // The keyboard stays in the field above, which names the active option.
  // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
  <div
    id={optionId(item)}
    role="option"
    aria-selected={isActive}
    onPointerMove={onPoint}
    onClick={onChoose}
    className={cx(
      'flex min-h-10 scroll-mt-9 scroll-mb-2 items-center gap-3 rounded-lg px-3 py-1.5 select-none [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted',
      isActive && 'bg-line',
    )}
  >
    {item.icon}
    <span className="min-w-0 flex-1">
      {item.label ?? <span className="block truncate">{item.name}</span>}
    </span>
    {item.aside && <span className="shrink-0 text-sm text-muted">{item.aside}</span>}
  </div>
);

export const Results = ({
  groups,
  active,
  onPoint,
  onChoose,
}: {
  groups: Group[];
  active: Item | undefined;
  onPoint: (item: Item) => void;
  onChoose: (item: Item) => void;
}) => (
  <div
    id={LIST_ID}
    role="listbox"
    aria-label="Results"
    className="min-h-0 scroll-py-1.5 overflow-y-auto overscroll-contain p-1.5"
  >
    {groups.map(({ name, items }) => (
      <div key={name} role="group" aria-label={name} className="mb-1.5">
        <div aria-hidden className="px-3 pt-2 pb-1 text-xs font-medium text-muted">
          {name}
        </div>
        {items.map((item) => (
          <Option
            key={item.id}
            item={item}
            isActive={item.id === active?.id}
            onPoint={() => onPoint(item)}
            onChoose={() => onChoose(item)}
          />
        ))}
      </div>
    ))}
  </div>
);
