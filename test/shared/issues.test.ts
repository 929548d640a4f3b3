import { expect, test } from 'vitest';
import * as z from 'zod';
import { toDetails } from '../../src/shared/schemas/issues.ts';
import { call, type Json, signUp } from '../support/client.ts';

const messagesOf = (schema: z.ZodType, input: unknown) => {
  const { error } = schema.safeParse(input);
  return error ? toDetails(error).map(({ path, message }) => `${path}: ${message}`) : [];
};

/** Returns the message for one field `it` of the given schema. */
const messageOf = (schema: z.ZodType, input?: unknown) =>
  messagesOf(z.object({ it: schema }), { it: input }).join('; ');

const MESSAGES: [schema: z.ZodType, input: unknown, message: string][] = [
  [z.string(), undefined, 'is required'],
  [z.enum(['a', 'b']), undefined, 'is required'],
  [z.union([z.string(), z.number()]), undefined, 'is required'],
  [z.string(), 7, 'must be a string'],
  [z.string().nullish(), [], 'must be a string'],
  [z.string(), null, 'must be a string'],
  [z.number(), '7', 'must be a number'],
  [z.coerce.number(), 'many', 'must be a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.number().int().min(1), 1.5, 'must be a whole number'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.array(z.string()), {}, 'must be an array'],
  [z.object({}), [], 'must be an object'],
  [z.record(z.string(), z.string()), 'text', 'must be an object'],
  [z.literal(true), false, 'must be true'],
  [z.enum(['full', 'verify']), 'half', 'must be one of full, verify'],
  [z.enum(['full', 'verify']), 7, 'must be one of full, verify'],
  [z.union([z.string(), z.number(), z.boolean()]), null, 'must be a string, a number, true or false'],
  [z.union([z.string(), z.object({ a: z.string() })]), {}, 'has an invalid format'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(10), 'short', 'must have at least 10 characters'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.string().max(200), 'a'.repeat(201), 'must have at most 200 characters'],
  [z.string().length(3), 'ab', 'must have exactly 3 characters'],
  [z.array(z.string()).min(1), [], 'must not be empty'],
  [z.array(z.string()).min(2), [], 'must have at least 2 items'],
  [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 item'],
  [z.number().int().min(1).max(100), 0, 'must be between 1 and 100'],
  [z.coerce.number().int().min(1).max(100).default(50), '101', 'must be between 1 and 100'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.number().int().max(9), 10, 'must be at most 9'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  [z.string().pipe(z.email()), 'ada', 'must be an email address'],
  [z.iso.date(), '31.1.2027', 'must be a date such as 2027-01-31'],
  [z.iso.datetime({ offset: true }), '2027', 'must be a time such as 2027-01-31T12:00:00Z'],
  [z.url(), 'nonsense', 'must be a URL'],
  [z.string().regex(/^a$/), 'b', 'has an invalid format'],
  [z.string().refine(() => false), 'b', 'has an invalid format'],
  [z.map(z.string(), z.string()), new Map([['a', 7]]), 'must be a string'],
];

const NAMED_MESSAGES = MESSAGES.map(([schema, input, message]) => ({ schema, input, message }));

test.for(NAMED_MESSAGES)('“$message” is the message for the value $input', ({ schema, input, message }) => {
  expect(messageOf(schema, input)).toMatch(new RegExp(`^it(\\.a)?: ${message}$`));
});

test('a schema’s own message replaces the standard one', () => {
  expect(messageOf(z.string().regex(/^a$/, 'must be a'), 'b')).toBe('it: must be a');
  expect(messageOf(z.string().min(3, { error: 'is too short' }), 'b')).toBe('it: is too short');
});

test('an error names unknown fields with their paths, up to 20 of them', () => {
  const schema = z.strictObject({ a: z.strictObject({ b: z.string() }).array() });
  expect(messagesOf(schema, { a: [{ b: 'x', c: 1 }], d: 2, e: 3 })).toEqual([
    'a.0.c: is not a known field',
    'd: is not a known field',
    'e: is not a known field',
  ]);
  expect(messagesOf(schema, null)).toEqual([': must be an object']);
  const many = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`f${at}`, at]));
  expect(messagesOf(schema, many)).toHaveLength(20);
});

test('endpoints answer with these messages', async () => {
  const details = async (answer: Promise<Json>) => (await answer).body.error.details;
  expect(await details(call('POST', '/api/register', { body: { email: 'ada', password: 'short' } }))).toEqual(
    [
      { path: 'email', message: 'must be an email address' },
      { path: 'password', message: 'must have at least 10 characters' },
    ],
  );
  const ada = await signUp();
  const invalid = {
    product: ' ',
    expires_at: 'soon',
    duration_days: 0,
    license_key: 'a b c d e',
    metadata: { seats: null },
    colour: 'red',
  };
  expect(await details(ada.asSession('POST', '/api/v1/licenses/create', invalid))).toEqual([
    { path: 'product', message: 'must not be empty' },
    { path: 'expires_at', message: 'must be a date such as 2027-01-31' },
    { path: 'duration_days', message: 'must be between 1 and 36500' },
    { path: 'license_key', message: 'must consist of A-Z, a-z, 0-9, -, _ and .' },
    { path: 'metadata.seats', message: 'must be a string, a number, true or false' },
    { path: 'colour', message: 'is not a known field' },
  ]);
  expect(await details(ada.asSession('GET', '/api/v1/licenses?limit=0&status=lost'))).toEqual([
    { path: 'limit', message: 'must be between 1 and 100' },
    { path: 'status', message: 'must be one of active, expired, suspended, revoked' },
  ]);
});
