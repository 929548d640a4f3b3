import type { ReactNode } from 'react';

export interface Item {
  id: string;
  name: string;
  icon: ReactNode;
  /** Other words that find the item. */
  keywords?: string;
  /** Shown instead of the name. */
  label?: ReactNode;
  aside?: ReactNode;
  /** Whether the item opens a page, which then has the focus. */
  opensPage?: boolean;
  run: () => void;
}

export interface Group {
  name: string;
  items: Item[];
}

const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** Whether the term consists of word beginnings in their order, like "crlic" for "create license". */
const isAbbreviation = (term: string, words: string[]): boolean => {
  if (term === '') return true;
  return words.some((word, at) => {
    let common = 0;
    while (common < term.length && word[common] === term[common]) common++;
    for (; common > 0; common--) if (isAbbreviation(term.slice(common), words.slice(at + 1))) return true;
    return false;
  });
};

const rankTerm = (term: string, name: string, keywords: string): number => {
  const words = wordsOf(name);
  if (words.some((word) => word.startsWith(term))) return 3;
  if (name.includes(term) || isAbbreviation(term, words)) return 2;
  return wordsOf(keywords).some((word) => word.startsWith(term)) ? 1 : 0;
};

/** Returns how well an item matches the typed text; 0 is no match. */
const rank = ({ name, keywords = '' }: Item, typed: string): number => {
  const [text, title] = [typed.trim().toLowerCase(), name.toLowerCase()];
  if (title.startsWith(text)) return 4;
  return Math.min(...text.split(/\s+/).map((term) => rankTerm(term, title, keywords.toLowerCase())));
};

/** Returns the items that match, best first, in groups that are sorted by their best item. */
export const match = (groups: Group[], typed: string): Group[] =>
  groups
    .map(({ name, items }) => {
      const ranked = items
        .map((item) => ({ item, rank: rank(item, typed) }))
        .filter((candidate) => candidate.rank > 0)
        .toSorted((a, b) => b.rank - a.rank);
      return { name, items: ranked.map(({ item }) => item), best: ranked[0]?.rank ?? 0 };
    })
    .filter(({ best }) => best > 0)
    .toSorted((a, b) => b.best - a.best);
