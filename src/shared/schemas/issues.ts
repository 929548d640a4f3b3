import * as z from 'zod';
import type { ErrorDetail } from '../app-error.ts';

// Validation messages. Each continues the field's name, as in "name must not be empty".

export const MAX_DETAILS = 20;

const TYPE_NAMES: Record<string, string[]> = {
  string: ['a string'],
  number: ['a number'],
  int: ['a whole number'],
  boolean: ['true', 'false'],
  array: ['an array'],
  object: ['an object'],
  record: ['an object'],
};

const FORMAT_MESSAGES: Record<string, string> = {
  email: 'must be an email address',
  url: 'must be a URL',
  date: 'must be a date such as 2027-01-31',
  datetime: 'must be a time such as 2027-01-31T12:00:00Z',
};

const INVALID_FORMAT = 'has an invalid format';

const mustBe = (types: string[]): string => {
  const others = [...new Set(types)];
  const last = others.pop() ?? '';
  return `must be ${others.length > 0 ? `${others.join(', ')} or ` : ''}${last}`;
};

const UNITS: Record<string, [singular: string, plural: string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

type SizeIssue = z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>;

/** Returns a message that names both bounds of a number, or null if the schema doesn't have both. */
const rangeMessage = ({ schema }: SizeIssue): string | null => {
  const { minValue, maxValue } = (schema ?? {}) as Partial<z.ZodNumber>;
  const [min, max] = [minValue ?? -Infinity, maxValue ?? Infinity];
  // Zod gives every integer schema the safe integers as bounds.
  const isRange = min > Number.MIN_SAFE_INTEGER && max < Number.MAX_SAFE_INTEGER;
  return isRange ? `must be between ${min} and ${max}` : null;
};

const sizeMessage = (issue: SizeIssue): string => {
  const isTooSmall = issue.code === 'too_small';
  const bound = isTooSmall ? issue.minimum : issue.maximum;
  const unit = UNITS[issue.origin];
  if (!unit) {
    const range = rangeMessage(issue);
    if (range) return range;
    const [lower, upper] = issue.inclusive === false ? ['more than', 'less than'] : ['at least', 'at most'];
    return `must be ${isTooSmall ? lower : upper} ${bound}`;
  }
  if (isTooSmall && bound === 1) return 'must not be empty';
  const comparison = issue.exact ? 'exactly' : isTooSmall ? 'at least' : 'at most';
  return `must have ${comparison} ${bound} ${unit[bound === 1 ? 0 : 1]}`;
};

/** Lists the allowed types if each option of the union is a simple type. */
const unionMessage = (options: z.core.$ZodIssue[][]): string => {
  const types = options.map((issues) => {
    const [issue] = issues;
    const isWrongType = issues.length === 1 && issue?.code === 'invalid_type' && issue.path.length === 0;
    return isWrongType ? TYPE_NAMES[issue.expected] : undefined;
  });
  return types.length > 0 && types.every((type) => type !== undefined)
    ? mustBe(types.flat())
    : INVALID_FORMAT;
};

/** Returns the message for an issue whose schema doesn't define its own. */
const issueMessage = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : mustBe(TYPE_NAMES[issue.expected] ?? [issue.expected]);
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : unionMessage(issue.errors);
    case 'too_small':
    case 'too_big':
      return sizeMessage(issue);
    case 'invalid_format':
      return FORMAT_MESSAGES[issue.format] ?? INVALID_FORMAT;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'is not a known field';
    default:
      return INVALID_FORMAT;
  }
};

// Without `jitless`, zod tries to generate code, which Workers don't allow.
z.config({ jitless: true, customError: issueMessage });

/** Returns the details of an error response. Each unknown field gets its own entry. */
export const toDetails = (error: z.core.$ZodError): ErrorDetail[] =>
  error.issues
    .slice(0, MAX_DETAILS)
    .flatMap((issue) => {
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MAX_DETAILS) : null;
      const paths = unknown ? unknown.map((key) => [...issue.path, key]) : [issue.path];
      return paths.map((path) => ({ path: path.join('.'), message: issue.message }));
    })
    .slice(0, MAX_DETAILS);
