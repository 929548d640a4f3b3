import { AppError } from '../shared/app-error.ts';

/** Reads the bytes of a body as they were sent, which a signature is over. */
export const readRaw = async (request: Request, maxBytes: number): Promise<Uint8Array> => {
  if (Number(request.headers.get('content-length')) > maxBytes) throw new AppError('body_too_large');
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new AppError('body_too_large');
    chunks.push(chunk);
  }
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
};
