import { ScrollText, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { MIN_SUBSTRING_LENGTH } from '../../../shared/rules/licenses.ts';
import type { LicenseFilter } from '../../data/license-filter.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/notice.tsx';

/** Explains why the list is empty: there are no licenses, none in this state, or none that match. */
export const NoLicenses = ({
  filter,
  createButton,
  findMachine,
  onClear,
  onShowAll,
}: {
  filter: LicenseFilter;
  createButton: ReactNode;
  findMachine: ReactNode;
  onClear: () => void;
  onShowAll: () => void;
}) => {
  const { status, product, customer, expiry, seats, machine } = filter;
  const q = filter.q?.trim() ?? '';
  const isNarrowed = Boolean(status || product || customer || expiry || seats || machine);
  if (q !== '') {
    return (
      <Empty
        icon={<SearchX />}
        title={status ? `No ${status} license matches` : 'No license matches'}
        action={
          <span className="flex flex-wrap justify-center gap-2">
            {findMachine}
            <Button size="sm" onClick={onClear}>
              Clear search
            </Button>
            {isNarrowed && (
              <Button size="sm" onClick={onShowAll}>
                Show all licenses
              </Button>
            )}
          </span>
        }
      >
        {q.length < MIN_SUBSTRING_LENGTH
          ? `No key, customer, product, or metadata starts with “${q}”. Type at least ${MIN_SUBSTRING_LENGTH} characters to search anywhere in them.`
          : `No key, customer, product, or metadata contains “${q}”.`}
      </Empty>
    );
  }
  if (isNarrowed) {
    return (
      <Empty
        icon={<ScrollText />}
        title={
          customer || expiry || seats || machine
            ? 'No license matches'
            : `No ${status ? `${status} ` : ''}licenses${product ? ` of ${product}` : ''}`
        }
        action={
          <Button size="sm" onClick={onShowAll}>
            Show all licenses
          </Button>
        }
      >
        {machine &&
          `No machine has the fingerprint or activation ID “${machine}”, or a name that begins with it.`}
      </Empty>
    );
  }
  return (
    <Empty icon={<ScrollText />} title="No licenses yet" action={createButton}>
      Create one for a customer, or for yourself to try out verify.
    </Empty>
  );
};
