import { useEffect, useState } from 'react';

/** Returns the text once it hasn't changed for a moment. */
export const useSettled = (text: string, pauseMs: number): string => {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text, pauseMs]);
  return settled;
};
