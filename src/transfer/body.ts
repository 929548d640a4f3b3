import { AppError } from '../shared/app-error.ts';

export const MAX_IMPORT_BYTES = 5 * 1024 * 1024;
/** What follows the limit is still read up to this size, because a client that is cut off often loses the answer. */
const MAX_DISCARDED_BYTES = 4 * MAX_IMPORT_BYTES;

export interface Body {
  text: string;
  /** Whether the body was longer than `text`. */
  isCut: boolean;
}

/**
 * Reads a body of at most 5 MiB. It is read to its end before the first line is imported, because many clients read no
 * answer while they send. Text in another encoding is rejected, because names would be stored without their accents.
 */
export const readBody = async (request: Request): Promise<Body> => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  let text: string | null = '';
  let size = 0;
  let isCut = false;
  const add = (chunk?: Uint8Array) => {
    try {
      text = text === null ? null : text + decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      text = null;
    }
  };
  for await (const chunk of request.body ?? []) {
    const room = MAX_IMPORT_BYTES - size;
    if (room > 0) add(chunk.subarray(0, room));
    size += chunk.byteLength;
    isCut ||= size > MAX_IMPORT_BYTES;
    if (size > MAX_DISCARDED_BYTES) break;
  }
  if (!isCut) add();
  if (text === null) throw new AppError('invalid_request', { message: 'The Body Must Be UTF-8' });
  return { text, isCut };
};
