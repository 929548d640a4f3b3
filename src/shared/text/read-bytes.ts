/**
 * Reads a body as it was sent. Throws what `tooLarge` makes as soon as it has more than `maxBytes`, so that a body without an end
 * takes no more memory than that.
 */
export const readBytes = async (
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
};
