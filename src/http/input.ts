import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod';
import { AppError } from '../shared/app-error.ts';
import type { AppEnv } from './context.ts';
import { issueWords, toDetails } from './issues.ts';
import { documented } from './openapi.ts';

// Workers forbid the code generation that zod would try first.
z.config({ jitless: true, customError: issueWords });

/** A line of text. Lone surrogates, which JSON can hold but UTF-8 can't, become U+FFFD before they are stored. */
export const text = (maxLength: number) =>
  z
    .string()
    .overwrite((value) => value.toWellFormed())
    .trim()
    .min(1)
    .max(maxLength);

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ format: 'email', examples: ['ada@example.com'] });

export const MAX_BODY_BYTES = 64 * 1024;
const MAX_DISCARDED_BYTES = 1024 * 1024;

const tooLarge = () => new AppError('body_too_large');

/** What most callers send, read in one piece: a connection holds a body to the length that it names. */
const readWhole = async (request: Request): Promise<string> => {
  const text = await request.text();
  if (text.length > MAX_BODY_BYTES) throw tooLarge();
  return text;
};

/**
 * Keeps at most the allowed size, counted as it arrives where no length is given. A body somewhat larger is
 * still read to its end: cut off while it sends, a client would often lose our answer.
 */
export const readText = async (request: Request, isJson = false): Promise<string> => {
  const length = Number(request.headers.get('content-length'));
  if (length > MAX_DISCARDED_BYTES) throw tooLarge();
  // Before the first look at `body`, which makes a stream of it. Of other bodies `text()` warns in the log.
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

/** No body is an empty object. */
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
  /** Runs before a bad body is refused: who may not call at all should hear that instead. */
  beforeRefusal?: (c: Context<AppEnv>) => Promise<void>;
}

const refuseInvalid = (result: { success: true } | { success: false; error: z.core.$ZodError }) => {
  if (!result.success) throw new AppError('invalid_request', { details: toDetails(result.error) });
};

type BodyHandler<S extends z.ZodType> = MiddlewareHandler<
  AppEnv,
  string,
  { in: { json: z.input<S> }; out: { json: z.output<S> } }
>;

/** A JSON body of at most 64 KiB that fits the schema. (Hono's own validator takes any other body for an empty one.) */
export const body = <S extends z.ZodType>(schema: S, { beforeRefusal }: BodyOptions = {}) => {
  const middleware: BodyHandler<S> = async (c, next) => {
    try {
      const result = schema.safeParse(await readJson(c));
      refuseInvalid(result);
      c.req.addValidatedData('json', result.data as object);
    } catch (error) {
      await beforeRefusal?.(c);
      throw error;
    }
    await next();
  };
  return documented(middleware, { input: { in: 'body', schema } });
};

export const query = <S extends z.ZodType>(schema: S) =>
  documented(zValidator('query', schema, refuseInvalid), { input: { in: 'query', schema } });

export const headers = <S extends z.ZodType>(schema: S) =>
  documented(zValidator('header', schema, refuseInvalid), { input: { in: 'header', schema } });
