import { useInfiniteQuery } from '@tanstack/react-query';
import { activationsQuery } from '../../data/queries.ts';
import { formatCount, plural } from '../../lib/format.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Meter } from '../../ui/meter.tsx';
import { MoreRows } from '../../ui/more.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { RefusedMachines } from './refused-machines.tsx';
import { SEAT_HEAD, SeatRow } from './seat-row.tsx';

/** Lists the machines that hold the license's seats. */
export const Seats = ({ licenseId }: { licenseId: string }) => {
  const query = useInfiniteQuery(activationsQuery(licenseId));
  const machines = query.data?.pages.flatMap(({ data }) => data);
  const seats = query.data?.pages[0]?.seats;
  const hint = seats
    ? `${formatCount(seats.used)} of ${plural(seats.limit, 'seat')} taken`
    : 'Any number of machines may use this license.';
  return (
    <Card aria-label="Seats">
      <CardHeader title="Seats" hint={query.data ? hint : <Skeleton className="my-0.5 h-4 w-40" />} />
      {seats && (
        <div className="px-5 pb-3">
          <Meter label="Seats taken" used={seats.used} limit={seats.limit} isGoodWhenFull />
        </div>
      )}
      <RefusedMachines licenseId={licenseId} />
      {query.isError && !machines ? (
        <LoadError error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="border-t border-line">
          {machines && machines.length > 0 ? (
            <Table label="Machines" head={SEAT_HEAD}>
              {machines.map((machine) => (
                <SeatRow key={machine.id} licenseId={licenseId} machine={machine} />
              ))}
            </Table>
          ) : (
            <p className="px-5 py-2.5 text-sm text-muted">
              {machines ? 'No machine uses this license yet.' : <Skeleton className="my-0.5 h-4 w-3/5" />}
            </p>
          )}
        </div>
      )}
      <MoreRows query={query} />
    </Card>
  );
};
