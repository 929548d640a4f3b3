import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod';
import { AppError } from '../shared/app-error.ts';
import { MAX_DETAILS, toDetails } from '../shared/schemas/issues.ts';
import { readBytes } from '../shared/text/read-bytes.ts';
import { bodyChunks, isEncoded } from '../shared/text/request-body.ts';
import type { AppEnv } from './context.ts';
import { refuseIdempotencyKey } from './idempotency.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_DISCARDED_BYTES = 1024 * 1024;

const tooLarge = () => new AppError('body_too_large');

/**
 * Reads a body and rejects it if it is larger than MAX_BODY_BYTES. Up to MAX_DISCARDED_BYTES are still read to the end,
 * because a client that is cut off while it sends often loses the response.
 */
export const readText = async (request: Request, isJson = false): Promise<string> => {
  const length = Number(request.headers.get('content-length'));
  if (length > MAX_DISCARDED_BYTES) throw tooLarge();
  // The fast path for most requests. It must precede any use of `body`, which creates a stream, and is only for JSON
  // because `text()` logs a warning for other content types.
  if (isJson && length > 0 && length <= MAX_BODY_BYTES && !isEncoded(request)) {
    const text = await request.text();
    // The runtime doesn't read more than Content-Length says.
    if (text.length > MAX_BODY_BYTES) throw tooLarge();
    return text;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyChunks(request)) {
    size += chunk.byteLength;
    if (size > MAX_DISCARDED_BYTES) break;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size > MAX_BODY_BYTES) throw tooLarge();
  return new TextDecoder().decode(chunks.length === 1 ? chunks[0] : await new Blob(chunks).arrayBuffer());
};

/** Reads the bytes of a body as they were sent, which a signature is over. */
export const readRaw = async (request: Request, maxBytes: number): Promise<Uint8Array> => {
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge();
  return readBytes(request.body, maxBytes, tooLarge);
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

/** What a route takes from a request. */
export interface Inputs {
  query?: z.ZodObject;
  /** Whether the handler makes its change `once` for an Idempotency-Key. */
  isRepeatable?: true;
  /** A JSON body of at most 64 KiB. */
  body?: z.ZodType;
  /** Whether a body is valid as it is. The schema costs more than the rest of reading it, so the most frequent calls have this. */
  isPlain?: (body: unknown) => boolean;
}

/** What handlers read with `c.req.valid`, and what the dashboard's client sends. */
export interface InputOf<I> {
  in: (I extends { query: infer Q extends z.ZodObject }
    ? { query: { [Field in keyof z.input<Q>]: string | undefined } }
    : {}) &
    (I extends { body: infer B extends z.ZodType } ? { json: z.input<B> } : {});
  out: (I extends { query: infer Q extends z.ZodType } ? { query: z.output<Q> } : {}) &
    (I extends { body: infer B extends z.ZodType } ? { json: z.output<B> } : {});
}

const validate = (schema: z.ZodType, value: unknown): object => {
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw new AppError('invalid_request', { details: toDetails(error) });
  return data as object;
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

const isKnown = (shape: z.core.$ZodShape, parameter: string): boolean =>
  Object.keys(toFields({ [parameter]: '' })).every(
    (field) => Object.hasOwn(shape, field) && (field === parameter || takesEntries(shape[field])),
  );

/** Reads the parameters of the URL. One that is given twice is a list, which no field accepts. */
const readQuery = (c: Context<AppEnv>, shape: z.core.$ZodShape): Record<string, unknown> => {
  if (!c.req.url.includes('?')) return {};
  const parameters = Object.entries(c.req.queries());
  const unknown = parameters.filter(([name]) => !isKnown(shape, name)).slice(0, MAX_DETAILS);
  const details = unknown.map(([path]) => ({ path, message: 'is not a known parameter' }));
  if (details.length > 0) throw new AppError('invalid_request', { details });
  return toFields(
    Object.fromEntries(parameters.map(([name, values]) => [name, values.length === 1 ? values[0] : values])),
  );
};

/** Reads and validates what a route takes. Any other parameter of the URL is an error. */
export const readInputs = async (
  c: Context<AppEnv>,
  { query, body, isPlain, isRepeatable }: Inputs,
): Promise<void> => {
  if (!isRepeatable) refuseIdempotencyKey(c);
  const parameters = readQuery(c, query?.shape ?? {});
  if (query) c.req.addValidatedData('query', validate(query, parameters));
  if (!body) return;
  const sent = await readJson(c);
  c.req.addValidatedData('json', isPlain?.(sent) ? (sent as object) : validate(body, sent));
};

/** For a route that isn't in the API document. */
export const takes =
  <const I extends Inputs>(inputs: I): MiddlewareHandler<AppEnv, string, InputOf<I>> =>
  async (c, next) => {
    await readInputs(c, inputs);
    await next();
  };
