// A switch between the light and the dark theme, which the dashboard shares: `public/theme.js` reads the same setting.
const KEY = 'latchkey.theme';

const isDark = (): boolean => {
  const { theme } = document.documentElement.dataset;
  return theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
};

export const startTheme = () => {
  const button = document.querySelector<HTMLButtonElement>('#theme');
  if (!button) return;
  const show = () => {
    button.textContent = isDark() ? 'Light theme' : 'Dark theme';
  };
  button.hidden = false;
  show();
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(KEY, theme);
    show();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
};
