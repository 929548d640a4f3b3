import * as fc from 'fast-check';

// Bodies, headers and queries: valid, almost valid and hostile.

export type Schema = Record<string, unknown>;

/** Replaces every `$ref` of a schema with its definition. */
export const inlined = (schema: Schema): Schema => {
  const definitions = (schema['$defs'] ?? {}) as Record<string, unknown>;
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref } = value as { $ref?: string };
    if ($ref !== undefined) return inline(definitions[$ref.slice('#/$defs/'.length)]);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inline(item)]));
  };
  const { $defs: _, ...rest } = schema;
  return inline(rest) as Schema;
};

const surrogates = fc.constantFrom(
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff',
  'a\udc00b',
  '\ud83d',
  '\ufeff',
  '\u202e',
);
const phrases = fc.constantFrom(
  '',
  ' ',
  '%',
  '%00',
  '"',
  "'",
  '*',
  "' OR 1=1 --",
  '" OR "" MATCH "',
  'NEAR(a b)',
  'null',
  '-1',
  '1e999',
  '9999-12-31',
  '2999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:59-23:59',
  '../../etc/passwd',
  '{{7*7}}',
  '💣'.repeat(40),
  '__proto__',
  'constructor',
);

export const hostileString = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  phrases,
  surrogates,
  fc
    .tuple(fc.string({ maxLength: 5 }), surrogates, fc.string({ maxLength: 5 }))
    .map((parts) => parts.join('')),
  fc.integer({ min: 100, max: 20_000 }).map((length) => 'x'.repeat(length)),
);

const hostileNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, 1, -1, 0.5, 36_500, 36_501, 2 ** 53, 1e300, Number.MIN_VALUE),
);

const nested = fc.integer({ min: 1, max: 300 }).map((depth) => {
  let value: unknown = depth;
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
});

/** Any value that JSON can express. */
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileString,
  hostileNumber,
  fc.constantFrom(null, true, false, [], {}),
  fc.jsonValue({ maxDepth: 3 }),
  nested,
);

// Object.fromEntries makes `__proto__` an own property, so JSON.stringify includes it.
const hostileEntries = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'),
      hostileString,
    ),
    hostileValue,
  ),
  { maxLength: 4 },
);

const LAST_DAY = new Date('9999-12-31T23:59:59Z');
const timesFrom = (first: string) =>
  fc.date({ min: new Date(first), max: LAST_DAY, noInvalidDate: true }).map((date) => date.toISOString());

// Mostly in the future, because almost no field accepts a past date.
const time = fc.oneof({ weight: 4, arbitrary: timesFrom('2100-01-01') }, timesFrom('0000-01-01'));

const edgeDates = fc.constantFrom('9999-12-31', '9999-12-31T23:59:59-23:59', '0000-01-01', '2100-02-29');

const plainEmail = fc.uuid().map((id) => `${id}@example.com`);

const validString = (
  { format, minLength = 0, maxLength = 60, pattern }: Schema,
  uri: fc.Arbitrary<string>,
): fc.Arbitrary<string> => {
  if (format === 'uri') return uri;
  if (format === 'idn-email') return fc.oneof({ weight: 3, arbitrary: plainEmail }, fc.emailAddress());
  if (format === 'date')
    return fc.oneof(
      time.map((text) => text.slice(0, 10)),
      edgeDates,
    );
  if (format === 'date-time') return fc.oneof(time, edgeDates);
  const lengths = { minLength: Number(minLength), maxLength: Math.max(Number(minLength), Number(maxLength)) };
  if (pattern !== undefined) {
    const letters = fc.constantFrom('a', 'b', 'c', 'X', 'Y', 'Z', '0', '1', '8', '9', '-', '_', '.');
    return fc.array(letters, lengths).map((all) => all.join(''));
  }
  return fc.string({ unit: 'grapheme', ...lengths });
};

/** A value that the JSON schema allows. The service may have further rules. */
const valid = (schema: Schema, uri = fc.webUrl()): fc.Arbitrary<unknown> => {
  const { type, anyOf, enum: choices, properties, additionalProperties } = schema;
  if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as Schema[]).map((option) => valid(option, uri)));
  if (Array.isArray(choices)) return fc.constantFrom(...(choices as unknown[]));
  if (Array.isArray(type))
    return fc.oneof(...type.map((name: string) => valid({ ...schema, type: name }, uri)));
  if ('const' in schema) return fc.constant(schema['const']);
  switch (type) {
    case 'string':
      return validString(schema, uri);
    case 'integer': {
      const { minimum = -(2 ** 31), maximum = 2 ** 31 } = schema;
      return fc.integer({ min: Number(minimum), max: Number(maximum) });
    }
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valid((schema['items'] ?? {}) as Schema, uri), { maxLength: 5 });
    case 'object': {
      const named = Object.entries((properties ?? {}) as Record<string, Schema>);
      const { required = [] } = schema as { required?: string[] };
      const fields = Object.fromEntries(named.map(([name, property]) => [name, valid(property, uri)]));
      const whole = fc.record(fields, { requiredKeys: required });
      // Some fields exclude all others, so each optional field is also sent alone.
      const alone = named.map(([name]) => {
        const kept = new Set([...required, name]);
        return fc.record(Object.fromEntries(Object.entries(fields).filter(([field]) => kept.has(field))));
      });
      const record = fc.oneof({ weight: Math.max(1, alone.length), arbitrary: whole }, ...alone);
      if (named.length > 0 || typeof additionalProperties !== 'object') return record;
      const value = valid(additionalProperties as Schema, uri);
      return fc.array(fc.tuple(hostileString, value), { maxLength: 5 }).map(Object.fromEntries);
    }
    default:
      return hostileValue;
  }
};

/** A valid body with some fields replaced and some added. */
const mutated = (schema: Schema, uri: fc.Arbitrary<string>): fc.Arbitrary<unknown> => {
  const names = Object.keys(schema['properties'] ?? {});
  const wrong =
    names.length === 0
      ? hostileEntries
      : fc.array(fc.tuple(fc.constantFrom(...names), hostileValue), { maxLength: 2 });
  return fc
    .tuple(valid(schema, uri), wrong, fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, hostileEntries))
    .map(([body, replaced, added]) =>
      Object.fromEntries([...Object.entries(body ?? {}), ...replaced, ...added]),
    );
};

const rawText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom(
    '',
    '{',
    '[',
    '"\\ud800"',
    '{"a":1,}',
    '\ufeff{}',
    'NaN',
    'null',
    '{"__proto__":{"scope":"full"}}',
  ),
  fc.integer({ min: 1, max: 30_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 10_000 }).map((depth) => '{"metadata":'.repeat(depth / 12) + '1'),
  fc.integer({ min: 65_500, max: 65_560 }).map((length) => `"${'x'.repeat(length - 2)}"`),
);

/** The text of a body, mostly valid or almost valid, so that it passes the first checks. */
export const bodyText = (schema: Schema, uri = fc.webUrl()): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: valid(schema, uri).map((value) => JSON.stringify(value)) },
    { weight: 5, arbitrary: mutated(schema, uri).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: hostileValue.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: rawText },
  );

/** A header value that fetch accepts: no line breaks, no NUL, one byte per character. */
export const headerValue = fc.oneof(
  fc.string({ minLength: 1, maxLength: 60 }),
  fc.constantFrom('null', 'x'.repeat(5_000), '"', ',', ';', '=', '%00', "'--", 'a, b'),
);

const encodeQuery = (pairs: (readonly [string, unknown])[]) =>
  new URLSearchParams(pairs.map((pair) => pair.map((part) => String(part).toWellFormed()))).toString();

/** A valid query, mostly with one field replaced or added. A cursor is an id or resembles one. */
export const queryText = (properties: Record<string, Schema>, ids: string[]): fc.Arbitrary<string> => {
  const names = Object.keys(properties);
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    'pattern' in schema
      ? fc.oneof(fc.constantFrom(...ids), {
          weight: 3,
          arbitrary: fc.stringMatching(new RegExp(String(schema['pattern']))),
        })
      : valid(schema),
  ]);
  const validQuery = fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys: [] });
  const name = names.length === 0 ? hostileString : fc.constantFrom(...names, ...names, '__proto__', '');
  const wrong = fc.option(fc.tuple(name, hostileString), { nil: null });
  const altered = fc.tuple(validQuery, wrong).map(([query, replaced]) => {
    const pairs = Object.entries(query).filter(([field]) => field !== replaced?.[0]);
    return encodeQuery(replaced ? [...pairs, replaced] : pairs);
  });
  const text = fc.constantFrom('%', '%zz', '%E0%A4%A', '%ff', '%00', 'a%00b', '+', '&&', '=', '1&q=2&q=3');
  const broken = fc
    .tuple(name, text)
    .map(([key, value]) => `${encodeURIComponent(key.toWellFormed())}=${value}`);
  return fc.oneof({ weight: 4, arbitrary: altered }, broken);
};
