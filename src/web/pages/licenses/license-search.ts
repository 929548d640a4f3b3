import { useEffect, useRef, useState } from 'react';
import type { LicenseFilter } from '../../data/queries.ts';

const PAUSE_MS = 200;

/** Returns the search parameters of a filter. */
export const searchOf = ({ q, status }: LicenseFilter) => ({ ...(q && { q }), ...(status && { status }) });

/** Keeps the typed text, and commits it when the typing pauses. */
export const useDraft = (value: string, commit: (text: string) => Promise<void>) => {
  const [draft, setDraft] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const type = (text: string, pauseMs = PAUSE_MS) => {
    const send = async () => {
      await commit(text);
      setDraft((now) => (now === text ? null : now));
    };
    setDraft(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void send(), pauseMs);
  };
  return { text: draft ?? value, type, clear: () => type('', 0) };
};
