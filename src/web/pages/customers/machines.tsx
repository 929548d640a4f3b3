import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type MachinesPage, machinesQuery } from '../../data/customer-queries.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { formatCount, plural } from '../../lib/format.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** Each license takes a call. */
const MAX_LICENSES = 10;

const MIDDLE = 'max-md:hidden';

const HEAD = (
  <>
    <Th>Machine</Th>
    <Th className={MIDDLE}>System</Th>
    <Th>Last seen</Th>
  </>
);

const seatsText = ({ seats, data, next_cursor }: MachinesPage): string => {
  const shown = next_cursor === null ? '' : `, of which ${data.length} are shown`;
  if (seats) return `${formatCount(seats.used)} of ${plural(seats.limit, 'seat')}${shown}`;
  return next_cursor === null
    ? plural(data.length, 'machine')
    : `More than ${plural(data.length, 'machine')}`;
};

const LicenseMachines = ({ license, page }: { license: LicenseBody; page: MachinesPage }) => (
  <>
    <p className="flex flex-wrap items-baseline justify-between gap-x-4 border-t border-line px-5 py-2.5 text-sm">
      <Link to="/licenses/$id" params={{ id: license.id }} className="min-w-0 truncate hover:underline">
        <code className="text-xs font-medium">{license.license_key}</code>
      </Link>
      <span className="nums text-muted">{seatsText(page)}</span>
    </p>
    {page.data.length > 0 && (
      <Table label={`Machines of ${license.license_key}`} head={HEAD}>
        {page.data.map((machine) => (
          <Tr key={machine.id}>
            <Td className="w-1/2 max-w-0">
              <span className="block truncate">{machine.name ?? machine.fingerprint}</span>
              {machine.name !== null && (
                <code className="block truncate text-xs text-muted">{machine.fingerprint}</code>
              )}
            </Td>
            <Td className={MIDDLE}>
              {[machine.platform, machine.app_version].filter((text) => text !== null).join(' · ')}
            </Td>
            <Td>
              <Time at={machine.last_seen_at} />
            </Td>
          </Tr>
        ))}
      </Table>
    )}
  </>
);

interface MachinesProps {
  licenses: LicenseBody[];
  /** What comes below once the machines have arrived, so that nothing moves. */
  children: ReactNode;
}

/** The machines of a customer's newest licenses. */
export const Machines = ({ licenses, children }: MachinesProps) => {
  const shown = licenses.slice(0, MAX_LICENSES);
  const query = useQuery(machinesQuery(shown.map(({ id }) => id)));
  const hint =
    licenses.length > MAX_LICENSES
      ? `Where the ${MAX_LICENSES} newest of these licenses are used. Each license’s page has its own.`
      : 'Where these licenses are used.';
  return (
    <>
      <Card>
        <CardHeader title="Machines" hint={hint} />
        {query.isError && !query.data ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : query.data ? (
          shown.map((license, i) => {
            const page = query.data[i];
            return page && <LicenseMachines key={license.id} license={license} page={page} />;
          })
        ) : (
          <div className="px-5 pb-5">
            <Skeleton />
          </div>
        )}
      </Card>
      {!query.isPending && children}
    </>
  );
};
