// Links in Markdown files lead to other files, as on GitHub. On the site they lead to pages.
import { basename, dirname, join, normalize } from 'node:path';
import { addressOf, type Guide, markdownAddressOf } from './pages.ts';

const EXTERNAL = /^[a-z][a-z0-9+.-]*:|^\//i;

export const PICTURES = '/docs/pictures';

export interface Links {
  /** Where a link leads on the site, or null if the site doesn't have its file. */
  toPage: (href: string) => string | null;
  toMarkdown: (href: string) => string | null;
}

export const pictureName = (href: string): string => basename(href);

/** The reference names pages by their addresses. */
const asMarkdown = (href: string): string => href.replace(/^\/docs\/[\w/-]+(?=#|$)/, (page) => `${page}.md`);

/** Resolves the links of a file. */
export const linksOf = (file: string, guides: Guide[]): Links => {
  const resolve = (href: string, address: (slug: string) => string): string | null => {
    if (EXTERNAL.test(href)) return href;
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? file : normalize(join(dirname(file), path));
    const guide = guides.find((each) => each.file === target);
    if (!guide) return null;
    return `${address(guide.slug)}${anchor === undefined ? '' : `#${anchor}`}`;
  };
  return {
    toPage: (href) => (href.startsWith('#') ? href : resolve(href, addressOf)),
    toMarkdown: (href) => (href.startsWith('#') ? href : resolve(asMarkdown(href), markdownAddressOf)),
  };
};
