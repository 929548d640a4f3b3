import { useCallback, useEffect, useRef } from 'react';

const isText = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key.length === 1 && !ctrlKey && !metaKey && !altKey;

/**
 * Keeps what people type from the moment they open the palette, because its code may have to load first. Returns a function
 * that takes what was typed, for when the palette's field has the focus and gets the keys itself.
 */
export const useTypedAhead = (isOpen: boolean): (() => string) => {
  const typed = useRef<string | null>(null);
  useEffect(() => {
    typed.current = isOpen ? '' : null;
    if (!isOpen) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (typed.current === null || !isText(event)) return;
      event.preventDefault();
      typed.current += event.key;
    };
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, [isOpen]);
  return useCallback(() => {
    const text = typed.current ?? '';
    typed.current = null;
    return text;
  }, []);
};
