import { AppError } from '../shared/app-error.ts';
import { MAX_IMPORT_BYTES } from '../shared/rules/transfer-limits.ts';
import { bodyChunks } from '../shared/text/request-body.ts';

/** What follows the limit is still read up to this size, because a client that is cut off often loses the answer. */
const MAX_DISCARDED_BYTES = 4 * MAX_IMPORT_BYTES;

export interface Body {
  /** The text, in the parts in which it arrived. */
  chunks: string[];
  /** Whether the body was longer than the text. */
  isCut: boolean;
}

/**
 * Reads a body of at most 5 MiB. It is read to its end before the first line is imported, because many clients read no
 * answer while they send. Text in another encoding is rejected, because names would be stored without their accents.
 */
export const readBody = async (request: Request): Promise<Body> => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  let chunks: string[] | null = [];
  let size = 0;
  const add = (chunk?: Uint8Array) => {
    try {
      chunks?.push(decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      chunks = null;
    }
  };
  for await (const chunk of bodyChunks(request)) {
    const room = MAX_IMPORT_BYTES - size;
    if (room > 0) add(chunk.subarray(0, room));
    size += chunk.byteLength;
    if (size > MAX_DISCARDED_BYTES) break;
  }
  const isCut = size > MAX_IMPORT_BYTES;
  if (!isCut) add();
  if (chunks === null) throw new AppError('invalid_request', { message: 'The Body Must Be UTF-8' });
  return { chunks, isCut };
};
