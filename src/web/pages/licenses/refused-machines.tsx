import { useInfiniteQuery } from '@tanstack/react-query';
import { DAY_MS } from '../../../shared/rules/dates.ts';
import { seatHistoryQuery } from '../../data/queries.ts';
import { plural } from '../../lib/format.ts';
import { Time, useNow } from '../../ui/time.tsx';
import { REFUSAL_TEXTS } from './merge-history.ts';

/** The machines that found no seat in the last day, each with the last time. The service notes one an hour. */
export const RefusedMachines = ({ licenseId }: { licenseId: string }) => {
  const { data } = useInfiniteQuery(seatHistoryQuery(licenseId));
  const sinceMs = useNow() - DAY_MS;
  const refused = (data?.pages.flatMap((page) => page.data) ?? []).filter(
    ({ action, at }) => action === 'refused' && Date.parse(at) > sinceMs,
  );
  if (refused.length === 0) return null;
  return (
    <div className="border-t border-line bg-warn-soft px-5 py-3 text-sm">
      <p className="font-medium">
        {plural(refused.length, 'machine')} {refused.length === 1 ? 'was' : 'were'} refused in the last day
      </p>
      <ul aria-label="Refused machines" className="mt-1 grid gap-1">
        {refused.map(({ at, fingerprint, name, reason }) => (
          <li key={`${at} ${fingerprint}`} className="flex flex-wrap gap-x-2">
            <span className="min-w-0 wrap-anywhere">{name ?? fingerprint}</span>
            <span className="text-muted">
              {reason && REFUSAL_TEXTS[reason]} · <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
};
