import type { SyntheticEvent } from 'react';

/**
 * The dashboard's Content-Security-Policy refuses the inline styles of an email, so they are set once it has loaded. Links are
 * removed, because their pages don't belong into the frame. Texts have no quotation marks here: the service escapes them.
 */
const toFrame = (html: string): string =>
  html.replaceAll(/ href="[^"]*"/g, '').replaceAll(' style="', ' data-style="');

const setStyles = ({ currentTarget }: SyntheticEvent<HTMLIFrameElement>) => {
  const mail = currentTarget.contentDocument;
  if (!mail) return;
  for (const element of mail.querySelectorAll<HTMLElement>('[data-style]'))
    element.style.cssText = element.dataset['style'] ?? '';
  currentTarget.style.height = `${mail.body.offsetHeight}px`;
};

/** Shows an email as a mail program does, apart from the page. It can't run scripts. */
export const MailFrame = ({ html }: { html: string }) => (
  <div className="overflow-hidden rounded-lg border border-line bg-white">
    <iframe
      title="Email"
      sandbox="allow-same-origin"
      srcDoc={toFrame(html)}
      onLoad={setStyles}
      className="block h-96 w-full"
    />
  </div>
);
