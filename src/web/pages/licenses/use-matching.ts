// What is done with all licenses that match, not only those shown: they are read page by page, and can be many.
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { LicenseFilter } from '../../data/license-filter.ts';
import { readMatching } from '../../data/license-list.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { showError } from '../../ui/toast.tsx';

/** Reads the licenses that match, until there are no more, `onPage` returns false, or the component is gone. */
export const useMatching = (
  filter: LicenseFilter,
  begin: () => { onPage: (licenses: LicenseBody[]) => boolean; onDone: () => void },
) => {
  const [count, setCount] = useState(0);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const { signal } = (controller.current = new AbortController());
      const { onPage, onDone } = begin();
      setCount(0);
      for await (const page of readMatching(filter, signal)) {
        setCount((before) => before + page.length);
        if (!onPage(page)) break;
      }
      onDone();
    },
    onError: (error) => {
      if (!controller.current.signal.aborted) showError(error);
    },
  });
  return { start: () => mutate(), stop: () => controller.current.abort(), isPending, count };
};
