{
  const theme = localStorage.getItem('latchkey.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}
