import type { Fields } from '../import-lines.ts';
import { NO_LIMIT } from '../terms.ts';
import { type DateOrder, isNever, readDate } from './dates.ts';

// Reads the values of a row. A value that can't be read is a problem of the row, and never a default.

/** Returns the text of a value, or nothing for an empty one. */
export const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value.trim() !== '') ||
  typeof value === 'number' ||
  typeof value === 'boolean'
    ? String(value).trim()
    : undefined;

const YES = new Set(['true', 'yes', 'y', '1', 'x', 'ja', 'wahr', 'oui', 'si', 'sí']);
const NO = new Set(['false', 'no', 'n', '0', 'nein', 'falsch', 'non']);
export const isYes = (value: unknown): boolean => YES.has(textOf(value)?.toLowerCase() ?? '');

/** What other services call a license that is good. Lemon Squeezy calls one inactive that has no machines yet. */
const GOOD =
  /^(?:active|activated|enabled|granted|valid|ok|live|paid|completed?|issued|inactive|sold|assigned|used|unused|new|aktiv|gültig)$/;
const STOPPED =
  /^(?:suspended|disabled|paused|blocked|banned|frozen|locked|refunded|chargedback|charged back|disputed|cancell?ed|invalid|stopped|deactivated|gesperrt|deaktiviert|storniert)$/;
const REVOKED = /^(?:revoked|terminated|void|voided|widerrufen)$/;
const EXPIRED = /^(?:expired|abgelaufen|ended)$/;
/** Columns whose “yes” is bad news. */
const BAD_NEWS = /suspend|disabl|revok|block|bann|refund|cancel|expired|gesperrt/i;

/** A number that a spreadsheet has written in place of a long one. */
const SCIENTIFIC = /^\d(?:[.,]\d+)?E\+\d+$/i;

const quote = (value: string) => `“${value.length > 60 ? `${value.slice(0, 60)}…` : value}”`;

/** Reads the values of one row. */
export const openValues = (order: DateOrder | null) => {
  const problems: string[] = [];
  const refuse = (column: string, problem: string) => {
    problems.push(`${column}: ${problem}`);
  };

  const dateIn = (column: string, value: unknown) => {
    const text = textOf(value) ?? '';
    if (isNever(text)) return null;
    const date = readDate(text, order);
    if (!date) refuse(column, `${quote(text)} isn’t a date that can be read.`);
    return date;
  };

  return {
    problems,

    key: (column: string, value: unknown): string | undefined => {
      const key = textOf(value);
      if (key !== undefined && SCIENTIFIC.test(key))
        refuse(column, `A spreadsheet has rounded the key to ${key}. Export the file again.`);
      return key;
    },

    /** A license is valid through the end of its last day. Without one, it never expires. */
    day: (column: string, value: unknown): string | null => dateIn(column, value)?.day ?? null,

    time: (column: string, value: unknown): string | undefined => {
      const date = dateIn(column, value);
      return date ? (date.time ?? date.day) : undefined;
    },

    /** Without a number, the product says how many machines may use the license. */
    seats: (column: string, value: unknown): Fields | undefined => {
      const text = textOf(value)?.toLowerCase();
      if (text === undefined) return undefined;
      if (text === '-1' || isNever(text)) return { max_activations: NO_LIMIT };
      const [, seats] = /^(\d+)(?:[.,]0+)?$/.exec(text) ?? [];
      if (seats === undefined) refuse(column, `${quote(text)} isn’t a number of machines.`);
      return seats === undefined ? undefined : { max_activations: Number(seats) };
    },

    /** Nothing stands for a license that is good, or that its last day has ended. */
    status: (column: string, value: unknown, lastDay?: string | null): string | undefined => {
      const text = textOf(value)?.toLowerCase();
      if (text === undefined || GOOD.test(text)) return undefined;
      const isBad = BAD_NEWS.test(column);
      if (YES.has(text) || NO.has(text)) return YES.has(text) === isBad ? 'suspended' : undefined;
      if (REVOKED.test(text)) return 'revoked';
      if (STOPPED.test(text)) return 'suspended';
      if (EXPIRED.test(text)) return lastDay ? undefined : 'suspended';
      refuse(column, `${quote(text)} isn’t a status that is known.`);
      return undefined;
    },
  };
};

export type Values = ReturnType<typeof openValues>;

/** Keeps the values that metadata can have. */
export const flatValues = (values: Fields): Fields | undefined => {
  const kept = Object.entries(values).filter(
    ([, value]) => typeof value === 'number' || typeof value === 'boolean' || textOf(value) !== undefined,
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

/** A line without the fields that have no value. */
export const toLine = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Returns the texts in one, or nothing if there are none. */
export const joined = (...values: unknown[]): string | undefined =>
  textOf(values.flatMap((value) => textOf(value) ?? []).join(' '));
