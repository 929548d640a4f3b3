import { Tooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

/** A tooltip for its child, which must be focusable so that keyboard users can see the tooltip. */
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
