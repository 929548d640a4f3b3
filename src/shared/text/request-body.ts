import { AppError } from '../app-error.ts';

/** What clients and proxies send: a name or none, and gzip. The runtime has no Brotli stream. */
const ENCODINGS = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate' } as const;

/** Whether the body is encoded, so that its Content-Length says nothing of its size. */
export const isEncoded = ({ headers }: Request): boolean =>
  !/^\s*(?:identity)?\s*$/i.test(headers.get('content-encoding') ?? '');

const decodedBody = (body: ReadableStream<Uint8Array>, encoding: string): ReadableStream<Uint8Array> => {
  const format = ENCODINGS[encoding.trim().toLowerCase() as keyof typeof ENCODINGS];
  if (format) return body.pipeThrough(new DecompressionStream(format));
  throw new AppError('unsupported_media_type', {
    message: 'The Content-Encoding Must Be gzip or deflate',
    headers: { 'Accept-Encoding': 'gzip, deflate' },
  });
};

/**
 * Yields the bytes of a body without its Content-Encoding, as they arrive. They can be many more than were sent, so a caller
 * counts them and stops.
 */
export async function* bodyChunks(request: Request): AsyncGenerator<Uint8Array> {
  const { body, headers } = request;
  if (!body) return;
  if (!isEncoded(request)) {
    yield* body;
    return;
  }
  const decoded = decodedBody(body, headers.get('content-encoding') ?? '');
  try {
    yield* decoded;
  } catch {
    throw new AppError('invalid_request', { message: 'The Body Is Not Encoded as Content-Encoding Says' });
  }
}
