import type { SyntheticEvent } from 'react';

/**
 * The dashboard's Content-Security-Policy refuses the inline styles of an email, even while it is parsed, so they are set
 * once it has loaded. The frame has no place for the page of a link.
 */
const toFrame = (html: string): string =>
  html.replaceAll(/ href="[^"]*"/g, '').replaceAll(' style="', ' data-style="');

const setStyles = ({ currentTarget }: SyntheticEvent<HTMLIFrameElement>) => {
  const mail = currentTarget.contentDocument;
  if (!mail) return;
  for (const element of mail.querySelectorAll<HTMLElement>('[data-style]'))
    element.style.cssText = element.dataset['style'] ?? '';
  currentTarget.style.height = `${mail.documentElement.scrollHeight}px`;
};

/** Shows an email as a mail program does, apart from the page. It can't run scripts. */
export const MailFrame = ({ html }: { html: string }) => (
  <iframe
    title="Email"
    sandbox="allow-same-origin"
    srcDoc={toFrame(html)}
    onLoad={setStyles}
    className="h-96 w-full rounded-lg border border-line bg-white"
  />
);
