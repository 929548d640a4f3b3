import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import * as z from 'zod';
import { AppError } from '../shared/app-error.ts';
import { MAX_DETAILS, toDetails } from '../shared/schemas/issues.ts';
import type { AppEnv } from './context.ts';
import { documentationOf, documented } from './openapi.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_DISCARDED_BYTES = 1024 * 1024;

const tooLarge = () => new AppError('body_too_large');

/** Reads a body whose Content-Length is within the limit. The runtime doesn't read more than that length. */
const readWhole = async (request: Request): Promise<string> => {
  const text = await request.text();
  if (text.length > MAX_BODY_BYTES) throw tooLarge();
  return text;
};

/**
 * Reads a body and rejects it if it is larger than MAX_BODY_BYTES. Up to MAX_DISCARDED_BYTES are still read to the end,
 * because a client that is cut off while it sends often loses the response.
 */
export const readText = async (request: Request, isJson = false): Promise<string> => {
  const length = Number(request.headers.get('content-length'));
  if (length > MAX_DISCARDED_BYTES) throw tooLarge();
  // The fast path for most requests. It must precede any use of `body`, which creates a stream, and is only for JSON
  // because `text()` logs a warning for other content types.
  if (isJson && length > 0 && length <= MAX_BODY_BYTES) return readWhole(request);
  if (!request.body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_DISCARDED_BYTES) break;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size > MAX_BODY_BYTES) throw tooLarge();
  return new TextDecoder().decode(chunks.length === 1 ? chunks[0] : await new Blob(chunks).arrayBuffer());
};

const isJsonType = (contentType: string | undefined) =>
  /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType ?? '');

/** Parses a JSON body. A missing body is treated as an empty object. */
const readJson = async (c: Context<AppEnv>): Promise<unknown> => {
  const isJson = isJsonType(c.req.header('content-type'));
  const text = await readText(c.req.raw, isJson);
  if (text === '') return {};
  if (!isJson) throw new AppError('unsupported_media_type');
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('invalid_json');
  }
};

interface BodyOptions {
  /** Runs before an invalid body is rejected, so that a caller without access gets the access error instead. */
  onInvalid?: (c: Context<AppEnv>) => Promise<void>;
}

const throwIfInvalid = (result: { success: true } | { success: false; error: z.core.$ZodError }) => {
  if (!result.success) throw new AppError('invalid_request', { details: toDetails(result.error) });
};

type BodyHandler<S extends z.ZodType> = MiddlewareHandler<
  AppEnv,
  string,
  { in: { json: z.input<S> }; out: { json: z.output<S> } }
>;

/** Validates a JSON body of at most 64 KiB. (Hono's own validator treats a body that isn't JSON as empty.) */
export const body = <S extends z.ZodType>(schema: S, { onInvalid }: BodyOptions = {}) => {
  const middleware: BodyHandler<S> = async (c, next) => {
    try {
      const result = schema.safeParse(await readJson(c));
      throwIfInvalid(result);
      c.req.addValidatedData('json', result.data as object);
    } catch (error) {
      await onInvalid?.(c);
      throw error;
    }
    await next();
  };
  return documented(middleware, { input: { in: 'body', schema } });
};

/** A parameter such as `metadata.order` or `metadata[order]`, which is an entry of the object `metadata`. */
const ENTRY = /^([a-z_]+)(?:\.(.+)|\[(.+)\])$/s;

/** Gathers the entries of objects. */
const toFields = (parameters: Record<string, unknown>): Record<string, unknown> => {
  const fields = new Map<string, unknown>();
  for (const [parameter, value] of Object.entries(parameters)) {
    const [, object = parameter, ...names] = ENTRY.exec(parameter) ?? [];
    const name = names.find((found) => found !== undefined);
    const entries = fields.get(object) ?? {};
    if (name === undefined) fields.set(object, value);
    else if (typeof entries === 'object') fields.set(object, { ...entries, [name]: value });
  }
  return Object.fromEntries(fields);
};

/** Whether a field is an object, so that its entries are parameters. */
const takesEntries = (field: z.core.$ZodType | undefined): boolean =>
  field !== undefined && z.safeParse(field, {}).success;

/** Whether one of the route's `query()` schemas has the parameter. */
const isKnown = (c: Context<AppEnv>, parameter: string): boolean =>
  matchedRoutes(c).some(({ handler }) => {
    const input = documentationOf(handler)?.input;
    if (input?.in !== 'query') return false;
    const { shape } = input.schema;
    return Object.keys(toFields({ [parameter]: '' })).every(
      (field) => Object.hasOwn(shape, field) && (field === parameter || takesEntries(shape[field])),
    );
  });

/** Returns an error if the URL has a parameter that the route doesn't take. */
export const unknownParameter = (c: Context<AppEnv>): AppError | null => {
  if (!c.req.url.includes('?')) return null;
  const unknown = Object.keys(c.req.queries()).filter((name) => !isKnown(c, name));
  if (unknown.length === 0) return null;
  const details = unknown.map((path) => ({ path, message: 'is not a known parameter' }));
  return new AppError('invalid_request', { details: details.slice(0, MAX_DETAILS) });
};

type QueryHandler<S extends z.ZodObject> = MiddlewareHandler<
  AppEnv,
  string,
  { in: { query: { [Field in keyof z.input<S>]: string | undefined } }; out: { query: z.output<S> } }
>;

/** Validates the query. A parameter that is given twice is a list, which no field accepts. */
export const query = <S extends z.ZodObject>(schema: S) => {
  const middleware: QueryHandler<S> = async (c, next) => {
    const parameters = Object.entries(c.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]);
    const result = schema.safeParse(toFields(Object.fromEntries(parameters)));
    throwIfInvalid(result);
    c.req.addValidatedData('query', result.data as object);
    await next();
  };
  return documented(middleware, { input: { in: 'query', schema } });
};

export const headers = <S extends z.ZodObject>(schema: S) =>
  documented(zValidator('header', schema, throwIfInvalid), { input: { in: 'header', schema } });
