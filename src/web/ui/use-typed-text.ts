import { useEffect, useRef, useState } from 'react';

const PAUSE_MS = 200;

/** Keeps the typed text, and commits it when the typing pauses. */
export const useTypedText = (value: string, commit: (text: string) => Promise<void>) => {
  const [draft, setDraft] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const type = (text: string, pauseMs = PAUSE_MS) => {
    const { pathname } = location;
    const send = async () => {
      // This page stays mounted until the next one has loaded. Committing now would lead back here.
      if (location.pathname !== pathname) return;
      await commit(text);
      setDraft((now) => (now === text ? null : now));
    };
    setDraft(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void send(), pauseMs);
  };
  return { text: draft ?? value, type, clear: () => type('', 0) };
};
