// Describes the JSON schemas of the OpenAPI document in words, a row for each field.

import type { Json } from '../openapi-schemas.ts';

export interface Row {
  name: string;
  type: string;
  isRequired: boolean;
  description: string;
}

const DEEPEST = 3;

const resolve = (schema: Json, schemas: Record<string, Json>): Json => {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  const named = schemas[reference.slice(reference.lastIndexOf('/') + 1)];
  return named ? resolve(named, schemas) : {};
};

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

const boundsOf = (schema: Json, low: string, high: string, unit: string): string => {
  const [from, to] = [schema[low], schema[high]] as [number | undefined, number | undefined];
  if (from !== undefined && to !== undefined) return `, ${from} to ${to}${unit}`;
  if (from !== undefined && from !== 0) return `, at least ${from}${unit}`;
  return to === undefined ? '' : `, at most ${to}${unit}`;
};

const FORMATS: Record<string, string> = {
  date: 'date',
  'date-time': 'time',
  email: 'email address',
  uri: 'URL',
};

const describeType = (type: string, schema: Json, schemas: Record<string, Json>): string => {
  if (type === 'string') {
    const format = FORMATS[String(schema['format'])];
    return format ?? `string${boundsOf(schema, 'minLength', 'maxLength', ' characters')}`;
  }
  if (type === 'integer' || type === 'number') return `${type}${boundsOf(schema, 'minimum', 'maximum', '')}`;
  if (type === 'array') return `list of ${typeOf((schema['items'] ?? {}) as Json, schemas)}`;
  return type;
};

/** The type of a value in words, such as `date or null`. */
const typeOf = (schema: Json, schemas: Record<string, Json>): string => {
  const resolved = resolve(schema, schemas);
  const choices = [...listOf(resolved['anyOf']), ...listOf(resolved['oneOf'])];
  if (choices.length > 0) return [...new Set(choices.map((choice) => typeOf(choice, schemas)))].join(' or ');
  if ('const' in resolved) return code(resolved['const']);
  if (Array.isArray(resolved['enum'])) return resolved['enum'].map(code).join(', ');
  const { type } = resolved;
  if (Array.isArray(type))
    return type.map((each) => describeType(String(each), resolved, schemas)).join(' or ');
  return typeof type === 'string' ? describeType(type, resolved, schemas) : 'any value';
};

/** What has fields: an object, an object that can be null, or the items of a list. */
const withFields = (schema: Json, schemas: Record<string, Json>): { schema: Json; suffix: string } | null => {
  const resolved = resolve(schema, schemas);
  if (resolved['properties']) return { schema: resolved, suffix: '' };
  if (resolved['items']) {
    const items = withFields(resolved['items'] as Json, schemas);
    return items && { ...items, suffix: `[]${items.suffix}` };
  }
  const found = [...listOf(resolved['anyOf']), ...listOf(resolved['allOf'])].map((each) =>
    withFields(each, schemas),
  );
  return found.find((each) => each !== null) ?? null;
};

const describe = (schema: Json, schemas: Record<string, Json>): string => {
  const own = schema['description'] ?? resolve(schema, schemas)['description'];
  const usual = schema['default'];
  return [
    ...(typeof own === 'string' ? [own] : []),
    ...(usual === undefined ? [] : [`${code(usual)} by default.`]),
  ].join(' ');
};

/** The fields of a schema, and of what is in them, such as `account.id` and `data[].id`. */
export const rowsOf = (schema: Json, schemas: Record<string, Json>, prefix = '', depth = 1): Row[] => {
  const found = withFields(schema, schemas);
  if (!found) return [];
  const required = new Set((found.schema['required'] ?? []) as string[]);
  const start = prefix === '' ? '' : `${prefix}${found.suffix}.`;
  return Object.entries(found.schema['properties'] as Record<string, Json>).flatMap(([name, field]) => {
    const row = {
      name: `${start}${name}`,
      type: typeOf(field, schemas),
      isRequired: required.has(name),
      description: describe(field, schemas),
    };
    return [row, ...(depth < DEEPEST ? rowsOf(field, schemas, row.name, depth + 1) : [])];
  });
};
