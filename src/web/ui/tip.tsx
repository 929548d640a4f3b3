import { Tooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

/** Says on hover and focus what its one child is. The child has to be focusable, so that the keyboard gets there. */
export const Tip = ({ text, children }: { text: string; children: ReactElement }) => (
  <Tooltip.Root>
    <Tooltip.Trigger render={children} />
    <Tooltip.Portal>
      <Tooltip.Positioner sideOffset={6} className="z-50">
        <Tooltip.Popup className="max-w-72 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-pop">
          {text}
        </Tooltip.Popup>
      </Tooltip.Positioner>
    </Tooltip.Portal>
  </Tooltip.Root>
);
