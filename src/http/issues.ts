import type * as z from 'zod';
import type { ErrorDetail } from '../shared/app-error.ts';

// What is wrong with an input, in words that go on from its name: "name must not be empty".

const MAX_DETAILS = 20;

const KINDS: Record<string, string[]> = {
  string: ['text'],
  number: ['a number'],
  int: ['a whole number'],
  boolean: ['true', 'false'],
  array: ['a list'],
  object: ['an object'],
  record: ['an object'],
};

const FORMATS: Record<string, string> = {
  email: 'must be an e-mail address',
  url: 'must be a URL',
  date: 'must be a date such as 2027-01-31',
  datetime: 'must be a time such as 2027-01-31T12:00:00Z',
};

const UNFIT = 'does not have the right form';

const mustBe = (kinds: string[]): string => {
  const all = [...new Set(kinds)];
  const last = all.pop() ?? '';
  return `must be ${all.length > 0 ? `${all.join(', ')} or ` : ''}${last}`;
};

const UNITS: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

type SizeIssue = z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>;

/** A number that has two bounds is told both of them. */
const rangeOf = ({ schema }: SizeIssue): string | null => {
  const { minValue, maxValue } = (schema ?? {}) as Partial<z.ZodNumber>;
  const [least, most] = [minValue ?? -Infinity, maxValue ?? Infinity];
  // Every whole number has the safe ones for its bounds.
  const isRange = least > Number.MIN_SAFE_INTEGER && most < Number.MAX_SAFE_INTEGER;
  return isRange ? `must be between ${least} and ${most}` : null;
};

const sizeWords = (issue: SizeIssue): string => {
  const isSmall = issue.code === 'too_small';
  const bound = isSmall ? issue.minimum : issue.maximum;
  const unit = UNITS[issue.origin];
  if (!unit) {
    const range = rangeOf(issue);
    if (range) return range;
    const [over, under] = issue.inclusive === false ? ['more than', 'less than'] : ['at least', 'at most'];
    return `must be ${isSmall ? over : under} ${bound}`;
  }
  if (isSmall && bound === 1) return 'must not be empty';
  const how = issue.exact ? 'exactly' : isSmall ? 'at least' : 'at most';
  return `must have ${how} ${bound} ${unit[bound === 1 ? 0 : 1]}`;
};

const unionWords = (options: z.core.$ZodIssue[][]): string => {
  const kinds = options.map((issues) => {
    const [issue] = issues;
    const isKind = issues.length === 1 && issue?.code === 'invalid_type' && issue.path.length === 0;
    return isKind ? KINDS[issue.expected] : undefined;
  });
  return kinds.length > 0 && kinds.every((kind) => kind !== undefined) ? mustBe(kinds.flat()) : UNFIT;
};

/** For an issue whose schema has no words of its own. */
export const issueWords = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : mustBe(KINDS[issue.expected] ?? [issue.expected]);
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : unionWords(issue.errors);
    case 'too_small':
    case 'too_big':
      return sizeWords(issue);
    case 'invalid_format':
      return FORMATS[issue.format] ?? UNFIT;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'is not a field';
    default:
      return UNFIT;
  }
};

/** Each at the field that it is about: one that is not known is a field, too. */
export const toDetails = (error: z.core.$ZodError): ErrorDetail[] =>
  error.issues
    .flatMap((issue) => {
      const paths =
        issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      return paths.map((path) => ({ path: path.join('.'), message: issue.message }));
    })
    .slice(0, MAX_DETAILS);
