import type { Endpoint } from './outbox-tables.ts';

/** An endpoint's JSON in storage. Earlier releases stored it without the optional fields. */
export type StoredEndpoint = Omit<Endpoint, 'urlRevision'> & Partial<Pick<Endpoint, 'urlRevision'>>;

export const fromStored = (stored: StoredEndpoint): Endpoint => ({ urlRevision: 0, ...stored });
