import { ERASED_EMAIL } from '../rules/licenses.ts';

/** A customer who is erased: their email address in lower case, and the names that their licenses had. */
export interface Person {
  email: string;
  names: readonly string[];
}

/** Takes the place of a name. */
const ERASED_NAME = 'erased';

/** Shorter names, such as initials, are in many words and codes. They are replaced where they are the whole text. */
const MIN_LENGTH = 3;

/** Letters of scripts that write words without spaces between them. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
/** Letters of scripts that write a word and its particle as one. */
const SUFFIXED = /\p{sc=Hang}/u;
/** Letters of scripts that write a short word and the next word as one. */
const PREFIXED = /[\p{sc=Arab}\p{sc=Hebr}]/u;
const LETTER = /[\p{L}\p{N}]/u;

const letterUnless = (scripts: RegExp[]) =>
  String.raw`(?!${scripts.map(({ source }) => source).join('|')})[\p{L}\p{M}\p{N}]`;

/** Patterns of the letters that, before or after a text, would make a longer word or a longer address of it. */
const lettersBeside = (text: string) => {
  const foreign = [SUFFIXED, PREFIXED].filter((script) => !script.test(text));
  return {
    before: letterUnless([UNSPACED, ...foreign]),
    after: letterUnless([UNSPACED, SUFFIXED, ...foreign]),
  };
};

/** A word of separators only. A pattern leaves it out: next to the pattern for separators, it would take forever to fail. */
const DIVIDER = /^[._-]+$/u;

/** A pattern that finds a name as whole words, whatever separates them. */
const patternOf = (name: string): string => {
  const words = name.split(/\s+/u).filter((word) => !DIVIDER.test(word));
  const letters = Array.from(words.join(' '));
  const isWord = (letter = '') => LETTER.test(letter) && !UNSPACED.test(letter);
  if (words.length === 0 || (letters.length < MIN_LENGTH && !UNSPACED.test(name)))
    return String.raw`^\s*${RegExp.escape(name)}\s*$`;
  const { before, after } = lettersBeside(name);
  const start = isWord(letters[0]) ? `(?<!${before})` : '';
  const end = isWord(letters.at(-1)) ? `(?!${after})` : '';
  return start + words.map((word) => RegExp.escape(word)).join(String.raw`[\s._-]+`) + end;
};

/** A short French word before an apostrophe and the next word, within a sentence. */
const ELIDED = String.raw`(?<=\p{L}\s)(?:[cdjlmnst]|qu)`;

/**
 * A pattern that finds an address, unless it is part of a longer one. An apostrophe belongs to an address only after a letter, and
 * not as in "dans l'adresse": others are quotation marks. A hyphen belongs to one only in a domain, which has a dot later.
 */
const addressPattern = (email: string) => {
  const { before, after } = lettersBeside(email);
  const start = String.raw`(?<!${before}|[_.+-])(?<!(?<!${ELIDED})(?<=[\p{L}\p{M}\p{N}])')`;
  const end = String.raw`(?!${after}|_|-[\p{L}\p{N}-]*\.[\p{L}\p{N}]|\.[\p{L}\p{N}_])`;
  return new RegExp(start + RegExp.escape(email) + end, 'giu');
};

const replaceNames = (names: readonly string[]) => {
  const spellings = names.flatMap((name) => [name.normalize('NFC'), name.normalize('NFD')]);
  const trimmed = new Set(spellings.map((name) => name.trim()).filter(Boolean));
  if (trimmed.size === 0) return (text: string) => text;
  // The longest name first, so that nothing is left of it.
  const patterns = [...trimmed].toSorted((a, b) => b.length - a.length).map(patternOf);
  const anyName = new RegExp(patterns.join('|'), 'giu');
  return (text: string) => text.replace(anyName, ERASED_NAME);
};

/**
 * Returns functions that take a person out of a text, or out of all texts of a value, the names of its fields included. A text
 * of `spared` says what many licenses say, and keeps what is spelled like a name.
 */
export const openScrubber = ({ email, names }: Person, spared: ReadonlySet<string> = new Set()) => {
  const anyEmail = addressPattern(email);
  const withoutNames = replaceNames(names);
  const withoutAddress = (text: string) => text.replace(anyEmail, ERASED_EMAIL);

  const scrubText = (text: string): string => {
    const anonymous = withoutAddress(text);
    return spared.has(anonymous) ? anonymous : withoutNames(anonymous);
  };

  /** Fields that have the same name afterwards are numbered. */
  const scrubFields = (fields: object) => {
    const scrubbed = new Map<string, unknown>();
    for (const [field, value] of Object.entries(fields)) {
      const name = scrubText(field);
      let unique = name;
      for (let number = 2; scrubbed.has(unique) || (unique !== field && unique in fields); number++)
        unique = `${name} ${number}`;
      scrubbed.set(unique, scrub(value));
    }
    return Object.fromEntries(scrubbed);
  };

  const scrub = <T>(value: T): T => {
    if (typeof value === 'string') return scrubText(value) as T;
    if (Array.isArray(value)) return value.map(scrub) as T;
    return typeof value === 'object' && value !== null ? (scrubFields(value) as T) : value;
  };

  return { withoutAddress, scrub };
};
