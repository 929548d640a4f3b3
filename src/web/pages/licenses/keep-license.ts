import { useQueryClient } from '@tanstack/react-query';
import { ApiError } from '../../data/error.ts';
import { dashboardQuery, historyQuery, type License, licenseQuery } from '../../data/queries.ts';

export const LICENSE_LISTS = ['licenses', 'list'];

/** Carries out a change and keeps its answer; what else it may have changed is asked for anew. */
export const useChangeLicense = (id: string) => {
  const queryClient = useQueryClient();
  const { queryKey } = licenseQuery(id);
  return async (change: () => Promise<License>): Promise<License> => {
    // An older answer must not come in after the new one.
    await queryClient.cancelQueries({ queryKey });
    try {
      const license = await change();
      queryClient.setQueryData(queryKey, license);
      return license;
    } catch (error) {
      // Somebody else has changed it meanwhile, or its answer was lost.
      if (error instanceof ApiError && error.code !== 'invalid_request') {
        void queryClient.invalidateQueries({ queryKey });
      }
      throw error;
    } finally {
      for (const changed of [LICENSE_LISTS, historyQuery(id).queryKey, dashboardQuery.queryKey]) {
        void queryClient.invalidateQueries({ queryKey: changed });
      }
    }
  };
};
