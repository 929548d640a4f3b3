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
 * answer while they send.
 */
export const readBody = async (request: Request): Promise<Body> => {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  let isCut = false;
  for await (const chunk of request.body ?? []) {
    const room = MAX_IMPORT_BYTES - size;
    if (room > 0) text += decoder.decode(chunk.subarray(0, room), { stream: true });
    size += chunk.byteLength;
    isCut ||= size > MAX_IMPORT_BYTES;
    if (size > MAX_DISCARDED_BYTES) break;
  }
  return { text: isCut ? text : text + decoder.decode(), isCut };
};
