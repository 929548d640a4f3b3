import { Link } from '@tanstack/react-router';
import { LICENSE_STATES, type LicenseState } from '../../../shared/rules/licenses.ts';
import type { Dashboard } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { Skeleton } from '../../ui/skeleton.tsx';

const FILLS: Record<LicenseState, string> = {
  active: 'bg-good',
  expired: 'bg-line-strong',
  suspended: 'bg-pause',
  revoked: 'bg-bad',
};

/** The number of licenses in each state, with links to their lists. */
export const LicenseCounts = ({ counts }: { counts: Dashboard['licenses'] | undefined }) => (
  <Card className="p-5">
    <h2 className="flex items-baseline justify-between text-sm font-medium">
      Licenses
      {counts && <span className="nums text-lg font-semibold">{formatCount(counts.total)}</span>}
    </h2>
    <div aria-hidden className="mt-2.5 mb-2 flex h-1.5 gap-0.5 overflow-hidden rounded-full bg-line">
      {counts &&
        LICENSE_STATES.filter((state) => counts[state] > 0).map((state) => (
          <span key={state} className={FILLS[state]} style={{ flexGrow: counts[state] }} />
        ))}
    </div>
    <ul className="-mx-2">
      {LICENSE_STATES.map((state) => (
        <li key={state}>
          <Link
            to="/licenses"
            search={{ status: state }}
            className="flex h-8 items-center gap-2 rounded-md px-2 text-sm transition-colors hover:bg-hover"
          >
            <span aria-hidden className={cx('size-2 rounded-full', FILLS[state])} />
            <span className="flex-1 capitalize">{state}</span>
            {counts ? (
              <span className="nums">{formatCount(counts[state])}</span>
            ) : (
              <Skeleton className="h-3.5 w-8" />
            )}
          </Link>
        </li>
      ))}
    </ul>
  </Card>
);
