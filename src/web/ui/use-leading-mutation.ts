import { useMutation, type UseMutationOptions } from '@tanstack/react-query';
import { type RouterHistory, useRouter } from '@tanstack/react-router';

/** Notes whether somebody goes to another page, even if they come back. */
const watchLeaving = (history: RouterHistory) => {
  const { pathname } = history.location;
  const watch = { hasLeft: false, end: () => {} };
  watch.end = history.subscribe(({ location }) => {
    watch.hasLeft ||= location.pathname !== pathname;
  });
  return watch;
};

/**
 * A mutation that leads to another page or state of the page once it has succeeded, but not somebody who has left the page
 * meanwhile.
 */
export const useLeadingMutation = <Data, Variables = void>(
  { onSuccess, ...write }: UseMutationOptions<Data, Error, Variables>,
  lead: ((data: Data) => Promise<void> | void) | undefined,
) => {
  const { history } = useRouter();
  return useMutation<Data, Error, Variables, ReturnType<typeof watchLeaving>>({
    ...write,
    onMutate: () => watchLeaving(history),
    onSuccess: async (data, variables, watch, context) => {
      await onSuccess?.(data, variables, watch, context);
      if (!watch.hasLeft) await lead?.(data);
    },
    onSettled: (_data, _error, _variables, watch) => watch?.end(),
  });
};
