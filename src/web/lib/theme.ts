import { useSyncExternalStore } from 'react';

// `public/theme.js` reads the same setting before the first paint.

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'latchkey.theme';
const listeners = new Set<() => void>();

const chosenTheme = (): Theme => {
  const theme = localStorage.getItem(KEY);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
};

export const chooseTheme = (theme: Theme) => {
  if (theme === 'system') {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset['theme'];
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset['theme'] = theme;
  }
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void) => {
  const system = matchMedia('(prefers-color-scheme: dark)');
  listeners.add(listener);
  system.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener('change', listener);
  };
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosenTheme);

/** Whether the dark theme is shown, for charts that CSS can't style. */
export const useIsDark = (): boolean =>
  useSyncExternalStore(subscribe, () => {
    const theme = chosenTheme();
    return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  });
