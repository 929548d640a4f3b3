import { DAY_MS, isoDate, isoTime } from '../dates.ts';

// Reads the dates that other services and spreadsheets write.

/** Whether the day or the month comes first in a date such as 03/04/2027. */
export const DATE_ORDERS = ['dmy', 'mdy'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

interface ReadDate {
  /** The day, in UTC if the text has a time zone. */
  day: string;
  /** The time, if the text has a time zone. */
  time?: string;
}

// The beginnings of the months’ names in English and German.
const MONTHS = [
  ['jan'],
  ['feb'],
  ['mar', 'mrz'],
  ['apr'],
  ['may', 'mai'],
  ['jun'],
  ['jul'],
  ['aug'],
  ['sep'],
  ['oct', 'okt'],
  ['nov'],
  ['dec', 'dez'],
];

const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** What stands for a date that never comes. */
const NEVER = new Set([
  '-',
  '–',
  '∞',
  '0',
  'n/a',
  'na',
  'nil',
  'nie',
  'none',
  'null',
  'never',
  'false',
  'forever',
  'infinite',
  'lifetime',
  'perpetual',
  'permanent',
  'unlimited',
  'unbegrenzt',
  'unbefristet',
  'no expiry',
  'does not expire',
]);

/** Whether a text says that a date never comes, as an empty one does. */
export const isNever = (text: string): boolean =>
  text === '' || NEVER.has(fold(text)) || /^000[01]-/.test(text);

const TIME =
  /^(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*(?:([ap])\.?m\.?)?\s*(z|(?:utc|gmt)?[+-]\d{2}:?\d{2}|utc|gmt)?(?:\s*\(.*\))?$/i;

const offsetMinutes = (zone: string): number => {
  const [, sign, hours, minutes] = /([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  return sign ? (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1) : 0;
};

const MIN_YEAR = 1900;
const CENTURY_PIVOT = 70;

const toYear = (text: string): number => {
  const year = Number(text);
  if (text.length > 2) return year;
  return year + (year < CENTURY_PIVOT ? 2_000 : 1_900);
};

/** Returns a day that exists, with the time after it. */
const toDate = (year: number, month: number, day: number, rest = ''): ReadDate | null => {
  const ms = Date.UTC(year, month - 1, day);
  const date = new Date(ms);
  if (year < MIN_YEAR || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  if (rest.trim() === '') return { day: isoDate(ms) };
  const [, hours, minutes, seconds = '0', half, zone] = TIME.exec(rest.trim()) ?? [];
  if (hours === undefined) return null;
  const hour = half ? (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hours);
  if (hour > 24 || Number(minutes) > 59) return null;
  if (!zone) return { day: isoDate(ms) };
  const timeMs =
    ms +
    (hour * 60 + Number(minutes) - offsetMinutes(zone)) * 60_000 +
    Math.floor(Number(seconds.replace(',', '.')) * 1_000);
  return { day: isoDate(timeMs), time: isoTime(timeMs) };
};

const EXCEL_EPOCH_DAYS = 25_569;

/** Reads a number: a day of Excel, or seconds or milliseconds since 1970. */
const readNumber = (text: string): ReadDate | null => {
  const [, year, month, day] = /^((?:19|20)\d{2})(\d{2})(\d{2})$/.exec(text) ?? [];
  if (year) return toDate(Number(year), Number(month), Number(day));
  const number = Number(text.replace(',', '.'));
  if (number >= 20_000 && number < 80_000)
    return { day: isoDate((Math.floor(number) - EXCEL_EPOCH_DAYS) * DAY_MS) };
  const ms = number < 1e11 ? number * 1_000 : number;
  return number >= 1e8 && ms < 1e14 ? { day: isoDate(ms), time: isoTime(ms) } : null;
};

const REST = '(?:[T ,]+(.*))?$';
const YEAR_FIRST = new RegExp(`^(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})${REST}`);
const YEAR_LAST = new RegExp(`^(\\d{1,2})([-/.])(\\d{1,2})\\2(\\d{4}|\\d{2})${REST}`);
const WEEKDAY = '(?:\\p{L}{2,10}[.,]?\\s+)?';
const DAY_AND_NAME = new RegExp(
  `^${WEEKDAY}(\\d{1,2})(?:st|nd|rd|th|\\.)?[\\s-]+(\\p{L}{3,9})\\.?,?[\\s-]+(\\d{4}|\\d{2})${REST}`,
  'iu',
);
const NAME_AND_DAY = new RegExp(
  `^${WEEKDAY}(\\p{L}{3,9})\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?,?\\s+(\\d{4})${REST}`,
  'iu',
);

const monthOf = (name: string) =>
  MONTHS.findIndex((beginnings) => beginnings.some((text) => fold(name).startsWith(text))) + 1;

const readNamed = (text: string): ReadDate | null => {
  const [, day, name, year, rest] = DAY_AND_NAME.exec(text) ?? [];
  if (name !== undefined && monthOf(name) > 0)
    return toDate(toYear(year ?? ''), monthOf(name), Number(day), rest);
  const [, name2, day2, year2, rest2] = NAME_AND_DAY.exec(text) ?? [];
  return name2 !== undefined && monthOf(name2) > 0
    ? toDate(Number(year2), monthOf(name2), Number(day2), rest2)
    : null;
};

/** Which orders a date such as 03/04/2027 can have, or null if the text has no order or both mean the same. */
export const orderOf = (text: string): DateOrder | 'either' | null => {
  const [, first, sign, second] = YEAR_LAST.exec(text) ?? [];
  if (first === undefined || first === second) return null;
  if (Number(second) > 12) return 'mdy';
  // Nobody writes the month first with dots.
  return Number(first) > 12 || sign === '.' ? 'dmy' : 'either';
};

/** Returns the date that a text says, or null if it says none. The order decides between two dates. */
export const readDate = (text: string, order: DateOrder | null): ReadDate | null => {
  if (/^\d+(?:[.,]\d+)?$/.test(text)) return readNumber(text);
  const [, year, , month, day, rest] = YEAR_FIRST.exec(text) ?? [];
  if (year !== undefined) return toDate(Number(year), Number(month), Number(day), rest);
  const [, first, , second, last = '', time] = YEAR_LAST.exec(text) ?? [];
  if (first === undefined) return readNamed(text);
  const own = orderOf(text) ?? 'dmy';
  const used = own === 'either' ? order : (order ?? own);
  if (used === null) return null;
  const [d, m] = used === 'dmy' ? [first, second] : [second, first];
  return toDate(toYear(last), Number(m), Number(d), time);
};
