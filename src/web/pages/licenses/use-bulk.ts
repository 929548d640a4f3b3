import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { sendForEach } from '../../data/bulk.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { type BulkAction, type NewExpiry, sendAction } from './bulk-actions.ts';

export interface BulkResult {
  license: LicenseBody;
  /** Null if the action was applied. */
  error: unknown;
}

/** Applies an action to licenses, and collects the results as they arrive. */
export const useBulk = (action: BulkAction, licenses: LicenseBody[]) => {
  const [results, setResults] = useState<BulkResult[]>([]);
  const stop = useRef(new AbortController());
  const mutation = useMutation({
    mutationFn: (expiry: NewExpiry | null) =>
      sendForEach(
        licenses,
        (license) => sendAction(action, license, expiry),
        (license, error) => setResults((before) => [...before, { license, error }]),
        stop.current.signal,
      ),
    meta: { invalidates: ['licenses', 'dashboard'] },
  });
  return { mutation, results, stop: () => stop.current.abort() };
};
