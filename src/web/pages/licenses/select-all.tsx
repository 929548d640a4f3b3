import type { LicenseFilter } from '../../data/license-filter.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useMatching } from './use-matching.ts';

/** The service changes a few licenses at a time, so that more would take longer than a page stays open. */
const MAX_SELECTED = 10_000;

/** Selects all licenses that match, not only those shown. `total` is their number, if it is known. */
export const SelectAll = ({
  filter,
  total,
  onSelect,
}: {
  filter: LicenseFilter;
  total: number | undefined;
  onSelect: (licenses: LicenseBody[]) => void;
}) => {
  const { start, stop, isPending, count } = useMatching(filter, () => {
    const licenses: LicenseBody[] = [];
    return {
      onPage: (page) => licenses.push(...page) <= MAX_SELECTED,
      onDone: () => {
        if (licenses.length > MAX_SELECTED)
          showToast(`The first ${formatCount(MAX_SELECTED)} of them are selected`);
        onSelect(licenses.slice(0, MAX_SELECTED));
      },
    };
  });
  if (isPending) {
    return (
      <Button size="sm" variant="quiet" onClick={stop}>
        <span className="nums" role="status">
          {formatCount(count)} read
        </span>
        Stop
      </Button>
    );
  }
  return (
    <Button size="sm" variant="quiet" onClick={start}>
      {total === undefined ? 'Select all that match' : `Select all ${formatCount(total)}`}
    </Button>
  );
};
