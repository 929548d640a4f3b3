import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { cx } from './cx.ts';

const ITEM =
  'flex w-full items-center gap-2.5 rounded-md px-2 py-1.5 text-base outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:shrink-0';

export const Menu = ({
  trigger,
  align = 'end',
  children,
}: {
  trigger: ReactElement;
  align?: 'start' | 'end';
  children: ReactNode;
}) => (
  <Base.Root modal={false}>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner sideOffset={6} align={align} className="z-50">
        <Base.Popup className="min-w-48 rounded-lg border border-line bg-raised p-1 shadow-pop outline-none">
          {children}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
);

export const MenuItem = ({
  icon,
  isDangerous = false,
  disabled = false,
  onSelect,
  children,
}: {
  icon?: ReactNode;
  isDangerous?: boolean;
  disabled?: boolean;
  onSelect: () => void;
  children: ReactNode;
}) => (
  <Base.Item disabled={disabled} onClick={onSelect} className={cx(ITEM, isDangerous && 'text-bad')}>
    {icon}
    {children}
  </Base.Item>
);

export const MenuChoices = <Value extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: Value;
  choices: { value: Value; label: string; icon?: ReactNode }[];
  onChoose: (value: Value) => void;
}) => (
  <Base.RadioGroup value={value} onValueChange={onChoose}>
    <Base.Group>
      <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-xs text-muted">{label}</Base.GroupLabel>
      {choices.map((choice) => (
        <Base.RadioItem key={choice.value} value={choice.value} className={ITEM}>
          {choice.icon}
          <span className="flex-1">{choice.label}</span>
          <Base.RadioItemIndicator className="size-1.5 rounded-full bg-brass" />
        </Base.RadioItem>
      ))}
    </Base.Group>
  </Base.RadioGroup>
);

export const MenuSeparator = () => <Base.Separator className="mx-1 my-1 h-px bg-line" />;
