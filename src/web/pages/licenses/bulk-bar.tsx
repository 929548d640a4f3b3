import { Download, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { LicenseBody } from '../../data/queries.ts';
import { plural } from '../../lib/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { ACTION_TEXTS, type BulkAction } from './bulk-actions.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { downloadCsv } from './export-csv.tsx';

const ACTIONS: BulkAction[] = ['suspend', 'reinstate', 'extend', 'product', 'revoke'];

/** The actions for the selected licenses. The bar floats over the end of the window, so that nothing moves. */
export const BulkBar = ({
  licenses,
  more,
  onClear,
  onSent,
}: {
  licenses: LicenseBody[];
  /** Selects more licenses. */
  more: ReactNode;
  onClear: () => void;
  /** Called once an action changes the licenses. */
  onSent: () => void;
}) => {
  const [action, setAction] = useState<BulkAction | null>(null);
  const [isOpen, setOpen] = useState(false);
  const open = (chosen: BulkAction) => {
    setAction(chosen);
    setOpen(true);
  };
  const clear = () => {
    onClear();
    document.querySelector<HTMLElement>('#select-all')?.focus();
  };
  return (
    <>
      {licenses.length > 0 && (
        <>
          {/* Room to scroll the end of the list above the bar. */}
          <div aria-hidden className="h-20 sm:h-4" />
          <div
            role="region"
            aria-label="Selected licenses"
            className="fixed inset-x-4 bottom-4 z-20 mx-auto flex w-fit max-w-[calc(100vw-2rem)] flex-wrap items-center justify-center gap-2 rounded-xl border border-line-strong bg-raised p-2 shadow-pop lg:left-[calc(15rem+1rem)]"
          >
            <p role="status" className="nums px-2 text-sm font-medium">
              {plural(licenses.length, 'license')} selected
            </p>
            {more}
            {ACTIONS.map((choice) => (
              <Button
                key={choice}
                size="sm"
                variant={choice === 'revoke' ? 'danger-outline' : 'outline'}
                onClick={() => open(choice)}
              >
                {ACTION_TEXTS[choice].verb}
              </Button>
            ))}
            <Button size="sm" onClick={() => downloadCsv(licenses)}>
              <Download aria-hidden />
              Export
            </Button>
            <IconButton label="Clear selection" onClick={clear}>
              <X aria-hidden />
            </IconButton>
          </div>
        </>
      )}
      {action && (
        <BulkDialog
          action={action}
          isOpen={isOpen}
          licenses={licenses}
          onSent={onSent}
          onClose={() => setOpen(false)}
          onClosed={() => setAction(null)}
        />
      )}
    </>
  );
};
