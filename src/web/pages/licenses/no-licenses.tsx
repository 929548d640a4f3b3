import { ScrollText, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import type { LicenseState } from '../../../shared/rules/licenses.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/notice.tsx';

/** So few characters the service looks for at the beginnings only. */
const SHORT = 3;

/** None at all, none in this state, or none that is found: each with its own way on. */
export const NoLicenses = ({
  q,
  status,
  createButton,
  onClear,
  onShowAll,
}: {
  q: string;
  status: LicenseState | undefined;
  createButton: ReactNode;
  onClear: () => void;
  onShowAll: () => void;
}) => {
  if (q !== '') {
    return (
      <Empty
        icon={<SearchX />}
        title={status ? `No ${status} license matches` : 'No license matches'}
        action={
          <span className="flex flex-wrap justify-center gap-2">
            <Button size="sm" onClick={onClear}>
              Clear search
            </Button>
            {status && (
              <Button size="sm" onClick={onShowAll}>
                Show all licenses
              </Button>
            )}
          </span>
        }
      >
        {q.length < SHORT
          ? `No key, e-mail, name or product begins with “${q}”. Three characters and more are found anywhere in them.`
          : `Nothing has “${q}” in its key, e-mail, name or product.`}
      </Empty>
    );
  }
  if (status) {
    return (
      <Empty
        icon={<ScrollText />}
        title={`No ${status} licenses`}
        action={
          <Button size="sm" onClick={onShowAll}>
            Show all licenses
          </Button>
        }
      />
    );
  }
  return (
    <Empty icon={<ScrollText />} title="No licenses yet" action={createButton}>
      Create the first one for a customer, or for yourself to try verifying it.
    </Empty>
  );
};
