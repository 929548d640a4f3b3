import type { ReactNode } from 'react';

export interface Item {
  id: string;
  name: string;
  icon: ReactNode;
  /** Other words by which it is found. */
  keys?: string;
  /** Shown instead of the name. */
  label?: ReactNode;
  aside?: ReactNode;
  /** Whether it leads to another place, which then has the focus. */
  leads?: boolean;
  run: () => void;
}

export interface Group {
  name: string;
  items: Item[];
}

const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** Whether it is made of beginnings of words, in their order: "crlic" of "create license". */
const isAbbreviation = (term: string, words: string[]): boolean => {
  if (term === '') return true;
  return words.some((word, at) => {
    let common = 0;
    while (common < term.length && word[common] === term[common]) common++;
    for (; common > 0; common--) if (isAbbreviation(term.slice(common), words.slice(at + 1))) return true;
    return false;
  });
};

const rankTerm = (term: string, name: string, keys: string): number => {
  const words = wordsOf(name);
  if (words.some((word) => word.startsWith(term))) return 3;
  if (name.includes(term) || isAbbreviation(term, words)) return 2;
  return wordsOf(keys).some((word) => word.startsWith(term)) ? 1 : 0;
};

/** How well it fits what was typed; 0 if it doesn't. */
export const rank = ({ name, keys = '' }: Pick<Item, 'name' | 'keys'>, typed: string): number => {
  const [text, said] = [typed.trim().toLowerCase(), name.toLowerCase()];
  if (said.startsWith(text)) return 4;
  return Math.min(...text.split(/\s+/).map((term) => rankTerm(term, said, keys.toLowerCase())));
};

/** What fits, the best of each group first. */
export const narrow = (groups: Group[], typed: string): Group[] =>
  groups
    .map(({ name, items }) => ({
      name,
      items: items
        .map((item) => ({ item, rank: rank(item, typed) }))
        .filter((ranked) => ranked.rank > 0)
        .toSorted((one, other) => other.rank - one.rank)
        .map(({ item }) => item),
    }))
    .filter(({ items }) => items.length > 0);

/** What is most likely meant; of equals the first. */
export const likeliest = (groups: Group[], typed: string): Item | undefined => {
  const items = groups.flatMap((group) => group.items);
  const best = Math.max(...items.map((item) => rank(item, typed)));
  return items.find((item) => rank(item, typed) === best);
};
