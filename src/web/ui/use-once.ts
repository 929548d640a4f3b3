import { type MutateOptions, type UseMutationOptions } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../data/error.ts';
import { type Once, openKey } from '../data/once.ts';
import { useDraft } from './draft.tsx';
import { useLeadingMutation } from './use-leading-mutation.ts';

/**
 * A mutation that makes something once, however often its form is sent after a lost answer, also after a reload. Leads like
 * `useLeadingMutation`.
 */
export const useOnce = <Data, Json>(
  { onSuccess, onError, ...write }: UseMutationOptions<Data, Error, Once<Json>>,
  lead?: (data: Data) => Promise<void> | void,
) => {
  const draft = useDraft();
  const [own] = useState(openKey);
  const key = draft?.key ?? own;
  const mutation = useLeadingMutation<Data, Once<Json>>(
    {
      ...write,
      onSuccess: (...made) => {
        key.renew();
        return onSuccess?.(...made);
      },
      onError: (error, ...failed) => {
        if (error instanceof ApiError && error.code === 'idempotency_conflict') key.renew();
        return onError?.(error, ...failed);
      },
    },
    lead,
  );
  const onceOf = (json: Json) => ({ json, idempotencyKey: key.read() });
  return {
    ...mutation,
    mutate: (json: Json, options?: MutateOptions<Data, Error, Once<Json>>) =>
      mutation.mutate(onceOf(json), options),
    mutateAsync: (json: Json) => mutation.mutateAsync(onceOf(json)),
  };
};
