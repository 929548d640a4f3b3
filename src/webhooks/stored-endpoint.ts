import type { Endpoint } from './outbox-tables.ts';

/** An endpoint's JSON in storage. Earlier releases stored it without the optional fields of `Endpoint`. */
export type StoredEndpoint = Omit<Endpoint, 'urlRevision' | 'earlierSecrets'> &
  Partial<Pick<Endpoint, 'urlRevision' | 'earlierSecrets'>> & {
    /** Earlier releases kept a single earlier secret. */
    oldSealedSecret?: string | null;
    oldSecretUntilMs?: number | null;
  };

export const fromStored = ({ oldSealedSecret, oldSecretUntilMs, ...stored }: StoredEndpoint): Endpoint => {
  const { urlRevision = 0, earlierSecrets = [] } = stored;
  const old = oldSealedSecret && oldSecretUntilMs;
  return {
    ...stored,
    urlRevision,
    earlierSecrets: old
      ? [...earlierSecrets, { sealedSecret: oldSealedSecret, untilMs: oldSecretUntilMs }]
      : earlierSecrets,
  };
};
