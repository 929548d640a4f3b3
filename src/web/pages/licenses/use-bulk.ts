import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sendForEach } from '../../data/bulk.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { useStoppable } from '../../ui/working.tsx';
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
  const { work, isWorking, stop } = useStoppable();
  const mutation = useMutation({
    mutationFn: ({ licenses, send }: BulkJob) => {
      setResults([]);
      return work((signal) =>
        sendForEach(
          licenses,
          send,
          (license, error) => setResults((before) => [...before, { license, error }]),
          signal,
        ),
      );
    },
    meta: { invalidates: ['licenses', 'dashboard'] },
  });
  return { mutation, results, isWorking, stop };
};
