// Renders a page of Markdown: its HTML, its headings, its text for the search, and Markdown with the links of the site.
import { Marked, type Token, type Tokens } from 'marked';
import { createAnchors } from './anchors.ts';
import { type Links, PICTURES, pictureName } from './links.ts';

export interface Section {
  /** Empty before the first heading. */
  anchor: string;
  title: string;
  depth: number;
  text: string;
}

export interface Rendered {
  title: string;
  /** The first paragraph, as plain text. */
  summary: string;
  html: string;
  markdown: string;
  sections: Section[];
  /** The files of its pictures, as the page names them. */
  pictures: string[];
}

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What `src/web/guides/values.ts` replaces with the reader's own, in code. */
const FILLS: [pattern: RegExp, name: string][] = [
  [/https:\/\/latchkey\.example\.com|(?<=\{LATCHKEY:-)http:\/\/localhost:8787/g, 'base-url'],
  [/\bacct_(?:…|[0-9A-Za-z]{20}\b)/g, 'account'],
  [/(?<=\/\/ |# )of scope verify$/gm, 'verify-key'],
];

const withFills = (html: string): string =>
  FILLS.reduce(
    (filled, [pattern, name]) =>
      filled.replace(pattern, (text) => `<span data-fill="${name}">${text}</span>`),
    html,
  );

/** Markdown without its marks, and without the answers of calls, which nobody searches for. */
const plainOf = (markdown: string): string =>
  markdown
    .replace(/^```json$.*?^```$/gms, ' ')
    .replace(/^(?:```|~~~).*$/gm, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<\/?[a-z][^>]*>/gi, ' ')
    .replace(/^[ >#|:-]+|[|*`]/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

/** Splits a page at its headings. */
const sectionsOf = (tokens: Token[], deepest: number): Section[] => {
  const anchorOf = createAnchors();
  const sections: (Section & { raw: string })[] = [];
  for (const token of tokens) {
    const anchor = isHeading(token) ? anchorOf(token.text) : '';
    if (isHeading(token) && token.depth <= deepest)
      sections.push({ anchor, title: plainOf(token.text), depth: token.depth, text: '', raw: '' });
    else {
      const section = sections.at(-1);
      if (section) section.raw += `${token.raw}\n`;
    }
  }
  return sections.map(({ raw, ...section }) => ({ ...section, text: plainOf(raw) }));
};

const rendererOf = (links: Links) => {
  const anchorOf = createAnchors();
  return {
    heading: (html: string, depth: number, raw: string) => {
      const anchor = anchorOf(raw);
      const isLinked = depth > 1 && !html.includes('<a ');
      const content = isLinked ? `<a class="anchor" href="#${anchor}">${html}</a>` : html;
      return `<h${depth} id="${anchor}">${content}</h${depth}>\n`;
    },
    link: (href: string, _title: string | null | undefined, html: string) => {
      const target = links.toPage(href);
      return target === null ? html : `<a href="${escapeHtml(target)}">${html}</a>`;
    },
    image: (href: string, _title: string | null, text: string) =>
      `<img src="${PICTURES}/${pictureName(href)}" alt="${escapeHtml(text)}" loading="lazy">`,
    // What scrolls sideways has to be reached with the keyboard.
    code: (code: string, language: string | undefined) =>
      `<pre tabindex="0"${language ? ` data-language="${escapeHtml(language)}"` : ''}><code>${withFills(escapeHtml(code))}</code></pre>\n`,
    codespan: (html: string) => `<code>${withFills(html)}</code>`,
    table: (header: string, body: string) =>
      `<div class="scroll" tabindex="0"><table><thead>${header}</thead><tbody>${body}</tbody></table></div>\n`,
  };
};

/** A pattern for a text that a page wraps differently. */
const patternOf = (raw: string): RegExp =>
  new RegExp(raw.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/\s+/g, String.raw`\s+`), 'g');

/** Gives Markdown the links of the site. A link to a file that the site doesn't have becomes its text. */
const withLinks = (markdown: string, found: (Tokens.Link | Tokens.Image)[], links: Links): string => {
  const byRaw = new Map(found.map((token) => [token.raw, token]));
  let changed = markdown;
  for (const { raw, type, href, text } of byRaw.values()) {
    const target = type === 'image' ? `${PICTURES}/${pictureName(href)}` : links.toMarkdown(href);
    if (target === href) continue;
    const mark = type === 'image' ? '!' : '';
    changed = changed.replace(patternOf(raw), () => (target === null ? text : `${mark}[${text}](${target})`));
  }
  return changed;
};

/** `deepest` is the depth of the headings that begin a section. */
export const render = (source: string, links: Links, deepest = 3): Rendered => {
  const marked = new Marked({ renderer: rendererOf(links) });
  const tokens = marked.lexer(source);
  const found: (Tokens.Link | Tokens.Image)[] = [];
  void marked.walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') found.push(token as Tokens.Link | Tokens.Image);
  });
  const sections = sectionsOf(tokens, deepest);
  const paragraph = tokens.find(({ type }) => type === 'paragraph');
  return {
    title: sections[0]?.title ?? '',
    summary: plainOf(paragraph?.raw ?? ''),
    html: marked.parser(tokens),
    markdown: withLinks(source, found, links),
    sections,
    pictures: found.filter(({ type }) => type === 'image').map(({ href }) => href),
  };
};
