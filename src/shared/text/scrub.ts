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

/** Letters of scripts that write words without spaces between them, or a name and its particle. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
/** Letters of scripts that write short words and the next word as one. */
const PREFIXED = /[\p{sc=Arab}\p{sc=Hebr}]/u;
const LETTER = /[\p{L}\p{N}]/u;

/** A pattern of the letters that would make a longer word, or a longer address, of a text that they stand next to. */
const letterBeside = (text: string) => {
  const foreign = PREFIXED.test(text) ? UNSPACED.source : `${UNSPACED.source}|${PREFIXED.source}`;
  return String.raw`(?!${foreign})[\p{L}\p{M}\p{N}]`;
};

/** A pattern that finds a name as whole words, whatever separates them. */
const patternOf = (name: string): string => {
  const words = name
    .split(/\s+/u)
    .map((word) => RegExp.escape(word))
    .join(String.raw`[\s._-]+`);
  const letters = Array.from(name);
  const isWord = (letter = '') => LETTER.test(letter) && !UNSPACED.test(letter);
  if (letters.length < MIN_LENGTH && !UNSPACED.test(name)) return String.raw`^\s*${words}\s*$`;
  const beside = letterBeside(name);
  const start = isWord(letters[0]) ? `(?<!${beside})` : '';
  const end = isWord(letters.at(-1)) ? `(?!${beside})` : '';
  return start + words + end;
};

/** Such as in French, before an apostrophe and the next word. */
const ELIDED = String.raw`(?<![\p{L}\p{M}\p{N}])(?:[cdjlmnst]|qu)`;

/**
 * A pattern that finds an address, unless it is part of a longer one. An apostrophe belongs to an address only after a letter, and
 * not as in "l'adresse": others are quotation marks. A hyphen belongs to one only in a domain, which has a dot later.
 */
const addressPattern = (email: string) => {
  const beside = letterBeside(email);
  const start = String.raw`(?<!${beside}|[_.+-])(?<!(?<!${ELIDED})(?<=[\p{L}\p{M}\p{N}])')`;
  const end = String.raw`(?!${beside}|_|-[\p{L}\p{N}-]*\.[\p{L}\p{N}]|\.[\p{L}\p{N}_])`;
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
