import { useInfiniteQuery } from '@tanstack/react-query';
import { historyQuery, type LicenseBody } from '../../data/queries.ts';
import { Time } from '../../ui/time.tsx';
import { useActorNames } from './actor-names.ts';
import { titleOf } from './merge-history.ts';

const TONES = {
  suspended: 'border-pause/30 bg-pause-soft',
  revoked: 'border-bad/30 bg-bad-soft',
} as const;

/** Who suspended or revoked the license, when, and why, which the latest part of its history tells. */
export const LicenseEnding = ({ license: { id, status } }: { license: LicenseBody }) => {
  const { data } = useInfiniteQuery(historyQuery(id));
  const changes = data?.pages.flatMap((page) => page.data) ?? [];
  const nameOf = useActorNames(changes);
  if (status !== 'suspended' && status !== 'revoked') return null;
  const ending = changes.find(({ action }) => action === status);
  return (
    ending && (
      <p className={`rounded-xl border px-5 py-3 wrap-anywhere ${TONES[status]}`}>
        {titleOf(ending, nameOf)} · <Time at={ending.at} />
        {ending.reason !== null && `: ${ending.reason}`}
      </p>
    )
  );
};
