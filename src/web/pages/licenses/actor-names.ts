import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { accountQuery, apiKeysQuery, type LicenseChange } from '../../data/queries.ts';

type Actor = NonNullable<LicenseChange['by']>;

/** Returns a function that names who has made a change. Keys are fetched only if one of them has. */
export const useActorNames = (changes: LicenseChange[]) => {
  const { data: account } = useQuery(accountQuery);
  const keys = useInfiniteQuery({
    ...apiKeysQuery,
    enabled: changes.some(({ by }) => by?.kind === 'api_key'),
  });
  const nameOfKey = (id: string | null) =>
    keys.data?.pages.flatMap(({ data }) => data).find((key) => key.id === id)?.name;

  return ({ kind, id }: Actor): string => {
    if (kind === 'session') return account?.name ?? 'you';
    if (kind === 'operator') return 'the operator';
    if (kind === 'store') return 'a store';
    if (kind === 'system') return 'the service';
    if (kind === 'customer') return 'the customer';
    const name = nameOfKey(id);
    return name ? `the API key “${name}”` : 'an API key';
  };
};

export type ActorNames = ReturnType<typeof useActorNames>;
