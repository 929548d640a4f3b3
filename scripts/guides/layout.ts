// Puts a page into the layout, `src/web/guides.html`, whose `[[…]]` are filled in.
import { escapeHtml, type Rendered } from './markdown.ts';
import { addressOf, markdownAddressOf } from './pages.ts';

export interface Page extends Rendered {
  slug: string;
  /** Its name in the navigation. */
  name: string;
}

export interface PageGroup {
  title: string;
  pages: Page[];
}

const linkTo = ({ slug, name }: Page, current: Page): string =>
  `<li><a href="${addressOf(slug)}"${slug === current.slug ? ' aria-current="page"' : ''}>${escapeHtml(name)}</a></li>`;

const navigation = (groups: PageGroup[], current: Page): string =>
  groups
    .map(({ title, pages }) => {
      const links = pages.map((page) => linkTo(page, current)).join('');
      return `<p class="group">${escapeHtml(title)}</p><ul>${links}</ul>`;
    })
    .join('\n');

/** A page with fewer sections needs no list of them. */
const FEWEST_SECTIONS = 2;

const contents = ({ sections }: Page): string => {
  const shown = sections.filter(({ depth }) => depth === 2);
  if (shown.length < FEWEST_SECTIONS) return '';
  const links = shown.map(({ anchor, title }) => `<li><a href="#${anchor}">${escapeHtml(title)}</a></li>`);
  return `<nav class="contents" aria-label="On this page"><p class="group">On this page</p><ul>${links.join('')}</ul></nav>`;
};

const neighbors = (pages: Page[], current: Page): string => {
  const at = pages.indexOf(current);
  const link = (page: Page | undefined, rel: string, label: string) =>
    page
      ? `<a rel="${rel}" href="${addressOf(page.slug)}"><span>${label}</span>${escapeHtml(page.name)}</a>`
      : '<span></span>';
  return link(pages[at - 1], 'prev', 'Before') + link(pages[at + 1], 'next', 'Next');
};

/** Returns what makes a page of its content. */
export const createLayout = (template: string, groups: PageGroup[]) => {
  const pages = groups.flatMap((group) => group.pages);
  return (page: Page): string => {
    // A guide may have the name of a group of calls.
    const ofCalls = page.slug.startsWith('api/') ? `${page.title} API` : page.title;
    const title = page.slug === 'index' ? 'Guides' : ofCalls;
    const parts: Record<string, string> = {
      title: escapeHtml(title),
      description: escapeHtml(page.summary.slice(0, 160)),
      markdown: markdownAddressOf(page.slug),
      navigation: navigation(groups, page),
      contents: contents(page),
      content: page.html,
      neighbors: neighbors(pages, page),
    };
    return template.replace(/(?:<!--)?\[\[(\w+)\]\](?:-->)?/g, (_, name: string) => {
      const part = parts[name];
      if (part === undefined) throw new Error(`The layout has no ${name}.`);
      return part;
    });
  };
};
