import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { sealBytes, type SealingRing, unsealBytes } from '../shared/crypto/sealing.ts';

// What a backup is in R2: chunks of lines, compressed and sealed, and a sealed summary. The name of a chunk and its number are
// part of what is sealed, so that none can take the place of another.

const SEALED_WITH = 'sealing_key';

export interface Bucket {
  r2: R2Bucket;
  ring: SealingRing;
}

/** Returns null if the service has no bucket for backups. */
export const findBucket = (env: Env): Bucket | null => {
  const r2 = env.BACKUPS as R2Bucket | undefined;
  return r2 ? { r2, ring: settingsOf(env).sealing } : null;
};

export const requireBucket = (env: Env): Bucket => {
  const bucket = findBucket(env);
  if (!bucket) throw new AppError('not_found', { message: 'The service has no bucket for backups.' });
  return bucket;
};

const transform = async (bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export const writeSealed = async (
  { r2, ring }: Bucket,
  name: string,
  owner: string[],
  text: string,
  onlyIf?: R2Conditional,
): Promise<R2Object | null> => {
  const packed = await transform(
    new Uint8Array(new TextEncoder().encode(text)),
    new CompressionStream('gzip'),
  );
  const sealed = await sealBytes(ring, packed, owner);
  return r2.put(name, sealed, {
    customMetadata: { [SEALED_WITH]: ring.current },
    ...(onlyIf && { onlyIf }),
  });
};

interface Sealed {
  /** Null if it isn't what was written, or its key is gone. */
  text: string | null;
  etag: string;
  writtenAtMs: number;
}

export const UNREADABLE = 'The backup can’t be read: its key is not in SEALING_KEYS, or it is damaged.';

/** Returns null if there is no such object. */
export const readSealed = async (
  { r2, ring }: Bucket,
  name: string,
  owner: string[],
): Promise<Sealed | null> => {
  const found = await r2.get(name);
  if (!found) return null;
  const bytes = new Uint8Array(await found.arrayBuffer());
  const text = await unsealBytes(ring, found.customMetadata?.[SEALED_WITH] ?? '', bytes, owner)
    .then((opened) => transform(opened, new DecompressionStream('gzip')))
    .then((opened) => new TextDecoder().decode(opened))
    .catch(() => null);
  return { text, etag: found.etag, writtenAtMs: found.uploaded.getTime() };
};

/** R2 refuses to write an object more than once a second. */
const WRITE_INTERVAL_MS = 1_100;
const MAX_WRITES = 3;

/** An object that only one writer changes at a time: who read it earlier than another has written it can't write it. */
export const openRecord = <T>(bucket: Bucket, name: string) => {
  const owner = ['backup', name];
  let writtenAtMs = 0;

  const writeOnce = async (text: string, onlyIf: R2Conditional): Promise<string | null> => {
    const waitMs = Math.min(WRITE_INTERVAL_MS, writtenAtMs + WRITE_INTERVAL_MS - Date.now());
    if (waitMs > 0) await scheduler.wait(waitMs);
    try {
      const written = await writeSealed(bucket, name, owner, text, onlyIf);
      return written && written.etag;
    } finally {
      writtenAtMs = Date.now();
    }
  };

  return {
    /** The value is null if nobody can read it. */
    read: async (): Promise<{ value: T | null; etag: string; writtenAtMs: number } | null> => {
      const found = await readSealed(bucket, name, owner);
      if (!found) return null;
      ({ writtenAtMs } = found);
      const value = found.text === null ? null : (JSON.parse(found.text) as T);
      return { value, etag: found.etag, writtenAtMs };
    },

    /**
     * Waits as long as R2 needs, and tries again if R2 fails. Without an etag, the object must not exist. Returns the new etag, or
     * null if it was not written.
     */
    write: async (value: T, etag: string | null): Promise<string | null> => {
      const onlyIf = etag === null ? { etagDoesNotMatch: '*' } : { etagMatches: etag };
      const text = JSON.stringify(value);
      for (let writes = 1; ; writes++)
        try {
          return await writeOnce(text, onlyIf);
        } catch (error) {
          if (writes === MAX_WRITES) throw error;
        }
    },

    remove: () => bucket.r2.delete(name),
  };
};
