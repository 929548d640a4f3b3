import { useEffect } from 'react';

/** Of the browser's tab. */
export const useTitle = (title: string) =>
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
