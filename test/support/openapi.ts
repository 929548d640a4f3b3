import { type OutputUnit, Validator } from '@cfworker/json-schema';
import { openApiDocument } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import type { Answer } from './client.ts';

// Checks the service's answers against the OpenAPI document.

type Schema = Record<string, unknown>;

interface Header {
  $ref?: string;
  schema?: Schema;
}

interface Response {
  description: string;
  headers: Record<string, Header>;
  content: Record<string, { schema: Schema; examples?: Record<string, unknown> }>;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

interface Operation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Response>;
}

export interface DocumentedOperation {
  method: string;
  /** Path as in the document, such as `/api/api-keys/{id}`. */
  path: string;
  operation: Operation;
}

export const openApi = openApiDocument(app, '0.0.0');

export const OPERATIONS: DocumentedOperation[] = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation: operation as Operation,
  })),
);

const parametersIn = (path: string) => path.split('{').length - 1;

const MATCHERS = OPERATIONS.map((documented) => ({
  documented,
  pattern: new RegExp(`^${documented.path.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
})).toSorted((a, b) => parametersIn(a.documented.path) - parametersIn(b.documented.path));

/** Returns the operation that a request matches. Paths without parameters take precedence. */
export const operationAt = (method: string, path: string): DocumentedOperation => {
  const [pathname = ''] = path.split(/[?#]/);
  const found = MATCHERS.find(
    ({ documented, pattern }) => documented.method === method && pattern.test(pathname),
  );
  if (!found) throw new Error(`${method} ${path} is not in the OpenAPI document.`);
  return found.documented;
};

/** Repairs lone surrogates in strings, which JSON allows but the validator's pointers can't represent. */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name.toWellFormed(), wellFormed(field)]),
  );
};

const validators = new Map<string, Validator>();

/** Returns the value's violations of a schema in the document. */
export const schemaErrors = (schema: Schema, value: unknown): string[] => {
  const name = JSON.stringify(schema);
  let validator = validators.get(name);
  if (!validator) {
    validator = new Validator({ ...schema, components: openApi.components }, '2020-12', false);
    validators.set(name, validator);
  }
  const { valid, errors } = validator.validate(wellFormed(value));
  return valid
    ? []
    : errors.map(({ instanceLocation, error }: OutputUnit) => `${instanceLocation}: ${error}`);
};

const headerSchema = ({ $ref, schema }: Header): Schema => {
  if (schema) return schema;
  const name = $ref?.split('/').at(-1) as keyof typeof openApi.components.headers;
  return openApi.components.headers[name].schema;
};

const REQUIRED_HEADERS = new Set(['X-Request-Id', 'Retry-After']);
const PROMISED_HEADERS = ['X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy'];

const wrongHeaders = (documented: Record<string, Header>, headers: Headers): string[] => [
  ...PROMISED_HEADERS.filter((name) => headers.has(name) && !(name in documented)).map(
    (name) => `header ${name} is not documented`,
  ),
  ...Object.entries(documented).flatMap(([name, header]) => {
    const text = headers.get(name);
    if (text === null) return REQUIRED_HEADERS.has(name) ? [`header ${name} is missing`] : [];
    const schema = headerSchema(header);
    const value = schema['type'] === 'integer' ? Number(text) : text;
    return schemaErrors(schema, value).map((wrong) => `header ${name} ${wrong}`);
  }),
];

const wrongBody = (content: Response['content'], { headers, body }: Answer): string[] => {
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  const documented = content[mediaType];
  if (!documented) return [`content type ${mediaType || '(none)'} is not documented`];
  const code: string | undefined = body?.error?.code;
  const lines: unknown[] = mediaType === 'application/x-ndjson' ? body : [body];
  const examples = documented.examples ?? {};
  return [
    ...lines.flatMap((line) => schemaErrors(documented.schema, line)),
    ...(code !== undefined && !(code in examples) ? [`error ${code} is not documented`] : []),
  ];
};

/** Returns the differences between an answer and its operation in the document. */
export const undocumented = (method: string, path: string, answer: Answer): string[] => {
  const { responses } = operationAt(method, path).operation;
  const response = responses[answer.status];
  if (!response) return [`status ${answer.status} is not documented`];
  return [...wrongHeaders(response.headers, answer.headers), ...wrongBody(response.content, answer)];
};

/** Throws if the status, error code, headers or body of an answer are not documented. */
export const expectDocumented = (method: string, path: string, answer: Answer): void => {
  const wrong = undocumented(method, path, answer);
  if (wrong.length === 0) return;
  const shown = JSON.stringify(answer.body)?.slice(0, 500);
  throw new Error(`${method} ${path} answered ${answer.status}: ${shown}\n${wrong.join('\n')}`);
};
