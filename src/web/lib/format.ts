const integer = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

export const formatCount = (value: number): string => integer.format(value);
export const formatCompact = (value: number): string => compact.format(value);

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];

/** As in `1.2 MB` and `153 bytes`: the short form of a byte has no plural. */
export const formatBytes = (bytes: number): string => {
  const power = Math.min(Math.floor(Math.log10(Math.max(1, bytes)) / 3), BYTE_UNITS.length - 1);
  const unit = new Intl.NumberFormat('en', {
    style: 'unit',
    unit: BYTE_UNITS[power] ?? 'byte',
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  });
  return unit.format(bytes / 1_000 ** power);
};

const dateFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
const dayFormat = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const exactFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'long' });

/** Formats a date (YYYY-MM-DD), or the UTC day of a timestamp. */
export const formatDate = (date: string): string => dateFormat.format(new Date(date));
export const formatDay = (date: string): string => dayFormat.format(new Date(date));
/** Formats a timestamp with seconds, in the browser's time zone. */
export const formatExact = (time: string): string => exactFormat.format(new Date(time));

const STEPS: [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [31_536_000, 'year'],
  [2_592_000, 'month'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
];
const relative = new Intl.RelativeTimeFormat('en-US', { numeric: 'always', style: 'long' });

export const formatRelative = (time: string, nowMs: number): string => {
  const seconds = (Date.parse(time) - nowMs) / 1_000;
  for (const [size, unit] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 20 ? 'in a moment' : 'just now';
};

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Returns the short name of an endpoint, for places where its URL is too long. */
export const hostOf = (url: string): string => new URL(url).hostname;

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
