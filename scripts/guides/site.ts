// Writes the guides and the API reference as static files: each page as HTML and as Markdown, the search, and llms.txt.
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type GuideEntry, guideWords } from '../../src/shared/rules/guide-words.ts';
import type { ReferencePage } from '../reference/pages.ts';
import { createLayout, type Page, type PageGroup } from './layout.ts';
import { linksOf, pictureName } from './links.ts';
import { render } from './markdown.ts';
import { addressOf, type Group, groups, markdownAddressOf, root } from './pages.ts';

const guideGroup = ({ title, guides }: Group, all: Group[]): PageGroup => {
  const known = all.flatMap(({ guides }) => guides);
  return {
    title,
    pages: guides.map(({ file, slug, name }) => {
      const source = readFileSync(join(root, file), 'utf8');
      const rendered = render(source, linksOf(file, known));
      const pictures = rendered.pictures.map((href) => join(dirname(file), href));
      return { ...rendered, pictures, slug, name: name ?? rendered.title };
    }),
  };
};

/** Each operation is one section of the search. */
const OPERATION_DEPTH = 2;

const referenceGroup = (pages: ReferencePage[]): PageGroup => ({
  title: 'API reference',
  pages: pages.map(({ slug, title, markdown }) => ({
    ...render(markdown, linksOf('', []), OPERATION_DEPTH),
    slug,
    name: slug === 'api' ? 'All calls' : title,
  })),
});

const searchIndex = (pages: Page[]): GuideEntry[] =>
  pages.flatMap(({ slug, name, sections }) =>
    sections.map(({ anchor, title, depth, text }) => ({
      a: depth === 1 ? addressOf(slug) : `${addressOf(slug)}#${anchor}`,
      p: name,
      t: title,
      w: guideWords(`${title} ${text}`).join(' '),
    })),
  );

const llms = (all: PageGroup[]): string =>
  [
    '# Latchkey',
    '> A licensing service: it issues license keys, verifies them, limits how many machines share one, and signs answers that an application can check offline.',
    ...all.map(({ title, pages }) =>
      [
        `## ${title}\n`,
        ...pages.map(({ slug, name, summary }) => `- [${name}](${markdownAddressOf(slug)}): ${summary}`),
      ].join('\n'),
    ),
    '## Optional\n\n- [OpenAPI document](/openapi.json): every call for tools\n',
  ].join('\n\n');

/** `assets` is what vite has built, among it the layout of the pages. */
export const buildGuides = async (assets: string, reference: ReferencePage[]) => {
  const layoutFile = join(assets, 'guides.html');
  const guides = groups();
  const [first, ...others] = guides.map((group) => guideGroup(group, guides));
  const all = [...(first ? [first] : []), referenceGroup(reference), ...others];
  const pages = all.flatMap((group) => group.pages);
  const layout = createLayout(readFileSync(layoutFile, 'utf8'), all);
  const folder = join(assets, 'docs');
  await mkdir(join(folder, 'api'), { recursive: true });
  for (const page of pages) {
    await writeFile(join(folder, `${page.slug}.html`), layout(page));
    await writeFile(join(folder, `${page.slug}.md`), page.markdown);
    for (const picture of page.pictures)
      if (existsSync(join(root, picture)))
        await cp(join(root, picture), join(folder, 'pictures', pictureName(picture)));
  }
  await writeFile(join(folder, 'search.json'), JSON.stringify(searchIndex(pages)));
  await writeFile(join(assets, 'llms.txt'), llms(all));
  await rm(layoutFile);
};
