import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { sendForEach } from '../../data/bulk.ts';
import type { LicenseBody } from '../../data/queries.ts';
import type { Undo } from './bulk-actions.ts';

/** What is done with licenses, one after another. */
export interface BulkJob {
  licenses: LicenseBody[];
  send: (license: LicenseBody) => Promise<LicenseBody>;
  /** What was done with each, as in “4 licenses suspended”. */
  done: string;
  undo?: Undo | undefined;
  /** Whether sending it again changes nothing more, where the response was lost. */
  isRepeatable?: boolean;
}

export interface BulkResult {
  license: LicenseBody;
  /** Null if the action was applied. */
  error: unknown;
}

/** Does a job, and collects its results as they arrive. */
export const useBulk = () => {
  const [results, setResults] = useState<BulkResult[]>([]);
  const controller = useRef(new AbortController());
  const mutation = useMutation({
    mutationFn: ({ licenses, send }: BulkJob) => {
      const { signal } = (controller.current = new AbortController());
      setResults([]);
      return sendForEach(
        licenses,
        send,
        (license, error) => setResults((before) => [...before, { license, error }]),
        signal,
      );
    },
    meta: { invalidates: ['licenses', 'dashboard'] },
  });
  return { mutation, results, stop: () => controller.current.abort() };
};
