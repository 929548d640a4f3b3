// What a page's scripts need to load.

const RELOADED = 'latchkey.reloaded';
/** A reload that was no help isn't repeated so soon. */
const RELOAD_INTERVAL_MS = 60_000;

/** After a deployment, the files that this page imports no longer exist. Other errors of a script don't go by a reload. */
export const reloadAfterDeployment = () =>
  addEventListener('vite:preloadError', (event) => {
    const nowMs = Date.now();
    if (nowMs - Number(sessionStorage.getItem(RELOADED)) < RELOAD_INTERVAL_MS) return;
    sessionStorage.setItem(RELOADED, `${nowMs}`);
    event.preventDefault();
    location.reload();
  });

/** Pasted into a tab that already shows its page, an email's link changes only the fragment, for which nothing is loaded. */
export const reloadForLinks = () =>
  addEventListener('hashchange', () => {
    if (/^#(?:token|invitation)=/.test(location.hash)) location.reload();
  });

/** Browsers can name the language as the system does, as in “en-US@posix”, which the chart hands on to Intl. */
export const correctLanguage = () => {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    const value = navigator.language.split(/[@.]/)[0]?.replace('_', '-') ?? 'en-US';
    Object.defineProperty(navigator, 'language', { value, configurable: true });
  }
};
