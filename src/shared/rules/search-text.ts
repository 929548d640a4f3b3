// How a search compares texts: without case and accents, and word by word. The view `license_words` folds what it indexes in the
// same way. The dashboard narrows down what it has found by the same rules.
import { MIN_SUBSTRING_LENGTH } from './licenses.ts';

/** Letters that Unicode doesn't compose of a plain letter and an accent. */
const OTHERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  þ: 'th',
  ŧ: 't',
};

const ACCENTED = /^([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+$/u;
const ACCENT = /[\u0300-\u036f]/g;
const ASCII = /^[\0-\x7f]*$/;

const foldCharacter = (character: string): string => {
  const lower = character.toLowerCase();
  const [, letter] = ACCENTED.exec(lower.normalize('NFD')) ?? [];
  return OTHERS[lower] ?? letter ?? lower.replace(ACCENT, '');
};

/** Converts to lower case without accents, character by character. */
export const foldText = (text: string): string =>
  ASCII.test(text) ? text.toLowerCase() : Array.from(text, foldCharacter).join('');

export const countCharacters = (text: string): number => Array.from(text).length;

const isShort = (word: string) => countCharacters(word) < MIN_SUBSTRING_LENGTH;

export interface SearchWord {
  /** As it was typed, in lower case. */
  typed: string;
  folded: string;
}

const toWord = (text: string): SearchWord => ({
  typed: Array.from(text, (character) => character.toLowerCase()).join(''),
  folded: foldText(text) || text,
});

export interface SearchText {
  /** All have to be found, each in any field. If none of them is long enough to be found by an index, they are one phrase. */
  words: SearchWord[];
  phrase: string;
  /** Whether the phrase is so short that it is only looked for at the beginning of a field. */
  isBeginning: boolean;
}

export const readSearch = (q: string): SearchText => {
  const words = q.split(/\s+/).filter((word) => word !== '');
  const phrase = words.join(' ');
  const { folded } = toWord(phrase);
  return {
    words: words.every((word) => isShort(toWord(word).folded)) ? [toWord(phrase)] : words.map(toWord),
    phrase: folded,
    isBeginning: isShort(folded),
  };
};

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

const hasAtWordStart = (text: string, word: string): boolean => {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (!LETTER_OR_DIGIT.test(text.charAt(at - 1))) return true;
  return false;
};

/** Next to a longer word, one or two characters are looked for where a word begins: nearly every key has them somewhere. */
const hasWord = (text: string, { folded }: SearchWord): boolean =>
  isShort(folded) ? hasAtWordStart(text, folded) : text.includes(folded);

/** Whether the fields have the phrase, or all of its words. */
export const matchesSearch = (
  fields: (string | null)[],
  { words, phrase, isBeginning }: SearchText,
): boolean => {
  const texts = fields.flatMap((field) => (field === null ? [] : [foldText(field)]));
  if (isBeginning) return texts.some((text) => text.startsWith(phrase));
  return (
    texts.some((text) => text.includes(phrase)) ||
    words.every((word) => texts.some((text) => hasWord(text, word)))
  );
};
