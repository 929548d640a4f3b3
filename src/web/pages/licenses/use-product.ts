import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type Product, productQuery, productsQuery } from '../../data/queries.ts';

/**
 * Finds the product whose code a license names; null if there is none. Most products are in the first page of the list,
 * so that a license whose product field is no code doesn't cause a failed request.
 */
export const useProduct = (code: string | null): { product: Product | null; isLoading: boolean } => {
  const list = useInfiniteQuery(productsQuery);
  const listed = list.data?.pages.flatMap(({ data }) => data).find((product) => product.code === code);
  const isElsewhere = code !== null && listed === undefined && list.hasNextPage;
  const one = useQuery({ ...productQuery(code ?? ''), enabled: isElsewhere });
  return {
    product: listed ?? (isElsewhere ? (one.data ?? null) : null),
    isLoading: code !== null && (list.isPending || (isElsewhere && one.isLoading)),
  };
};
