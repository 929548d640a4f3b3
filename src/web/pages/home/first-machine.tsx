import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { activationsQuery } from '../../data/queries.ts';
import { Time } from '../../ui/time.tsx';

/** Shows the newest machine of the sample license, as soon as it has a seat: the page follows events. */
export const FirstMachine = ({ licenseId }: { licenseId: string }) => {
  const { data } = useInfiniteQuery(activationsQuery(licenseId));
  const machines = data?.pages.flatMap((page) => page.data) ?? [];
  const newest = machines.toSorted((a, b) => b.activated_at.localeCompare(a.activated_at))[0];
  return (
    <p aria-live="polite" className="text-sm">
      {newest ? (
        <span className="text-ink">
          Machine {newest.name ?? newest.fingerprint} took a seat <Time at={newest.activated_at} />.{' '}
        </span>
      ) : (
        'Waiting for the first machine. '
      )}
      <Link to="/licenses/$id" params={{ id: licenseId }} className="underline hover:text-ink">
        {newest ? 'See it on the license’s page' : 'Open the license’s page'}
      </Link>
    </p>
  );
};
