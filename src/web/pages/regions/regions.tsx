import { useQuery } from '@tanstack/react-query';
import { regionsQuery } from '../../data/queries.ts';
import { Card } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { SettingsFrame } from '../settings/frame.tsx';
import { Places } from './places.tsx';
import { Traffic } from './traffic.tsx';

/** How often a move is looked at. */
const MOVE_WATCH_MS = 2_000;

export const RegionsPage = () => {
  const query = useQuery({
    ...regionsQuery,
    refetchInterval: ({ state: { data } }) => (data?.moving_to ? MOVE_WATCH_MS : false),
  });
  const regions = query.data;
  return (
    <SettingsFrame section="Regions">
      <p className="max-w-2xl text-muted">
        Your home region answers verify calls. Where many callers are far from it, a branch can open near them
        and answer with the same licenses, keys, and limits.
      </p>
      {query.isError && !regions ? (
        <Card>
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        </Card>
      ) : (
        <>
          <Places regions={regions} />
          <Traffic regions={regions} />
        </>
      )}
    </SettingsFrame>
  );
};
