// The pages of the guides, in the order of their navigation.
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface Guide {
  /** From the repository's root. */
  file: string;
  /** The last part of its address. */
  slug: string;
  /** Its name in the navigation, where that isn't its heading. */
  name?: string;
}

export interface Group {
  title: string;
  guides: Guide[];
}

const LISTED: [group: string, files: string[]][] = [
  [
    'Start',
    [
      'README.md',
      'docs/applications.md',
      'src/client/README.md',
      'examples/README.md',
      'docs/moving-from.md',
      'docs/moving.md',
    ],
  ],
  [
    'Sell',
    [
      'docs/checkout.md',
      'docs/portal.md',
      'docs/trials.md',
      'docs/license-keys.md',
      'docs/webhooks.md',
      'docs/faq.md',
    ],
  ],
  [
    'Stores',
    [
      'docs/selling.md',
      'docs/stores/stripe.md',
      'docs/stores/paddle.md',
      'docs/stores/lemonsqueezy.md',
      'docs/stores/polar.md',
      'docs/stores/gumroad.md',
      'docs/stores/fastspring.md',
      'docs/stores/woocommerce.md',
      'docs/stores/generic.md',
    ],
  ],
  [
    'Look up',
    [
      'docs/calls.md',
      'docs/troubleshooting.md',
      'docs/limits.md',
      'docs/costs.md',
      'docs/tokens.md',
      'conformance/README.md',
    ],
  ],
  [
    'Run it',
    [
      'docs/deploying.md',
      'docs/running.md',
      'docs/backups.md',
      'docs/billing.md',
      'docs/regions.md',
      'docs/security.md',
    ],
  ],
  [
    'How it is made',
    [
      'docs/design.md',
      'docs/benchmarks.md',
      'docs/never-run.md',
      'docs/comparison.md',
      'docs/versioning.md',
      'CONTRIBUTING.md',
      'docs/recipes.md',
    ],
  ],
];

const NAMES: Record<string, string> = {
  'README.md': 'Overview',
  'src/client/README.md': 'Client package',
  'conformance/README.md': 'Clients in other languages',
};

const slugOf = (file: string): string => {
  if (file === 'README.md') return 'index';
  const name = basename(file, '.md') === 'README' ? basename(dirname(file)) : basename(file, '.md');
  return name.toLowerCase();
};

/** A page of docs/ that no group lists is in the last one, so that none is ever missing. */
const unlisted = (): string[] => {
  const listed = new Set(LISTED.flatMap(([, files]) => files));
  return readdirSync(join(root, 'docs'))
    .toSorted()
    .map((name) => `docs/${name}`)
    .filter((file) => file.endsWith('.md') && !listed.has(file));
};

export const groups = (): Group[] => {
  const more = unlisted();
  return [...LISTED, ...(more.length > 0 ? [['More', more] as const] : [])].map(([title, files]) => ({
    title,
    guides: files.map((file) => {
      const name = NAMES[file];
      return { file, slug: slugOf(file), ...(name !== undefined && { name }) };
    }),
  }));
};

/** What the guides are made of, beside docs/ and the sources of the service. */
export const GUIDE_SOURCES = [
  'docs',
  ...LISTED.flatMap(([, files]) => files.filter((file) => !file.startsWith('docs/'))),
  'test/e2e/pictures',
];

/** Where a page is. The first one is at the root of the guides. */
export const addressOf = (slug: string): string => (slug === 'index' ? '/docs' : `/docs/${slug}`);
export const markdownAddressOf = (slug: string): string => `/docs/${slug}.md`;
