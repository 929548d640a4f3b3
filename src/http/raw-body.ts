import { AppError } from '../shared/app-error.ts';
import { readBytes } from '../shared/text/read-bytes.ts';

const tooLarge = () => new AppError('body_too_large');

/** Reads the bytes of a body as they were sent, which a signature is over. */
export const readRaw = async (request: Request, maxBytes: number): Promise<Uint8Array> => {
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge();
  return readBytes(request.body, maxBytes, tooLarge);
};
