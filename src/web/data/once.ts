import { reword } from './error.ts';

/** What makes something. Sending the same key again never makes a second one. */
export interface Once<Json> {
  json: Json;
  idempotencyKey: string;
}

/** What names the thing that a form makes, until that is made. */
export interface OnceKey {
  read: () => string;
  renew: () => void;
}

export const openKey = (initial: string = crypto.randomUUID()): OnceKey => {
  let key = initial;
  return {
    read: () => key,
    renew: () => {
      key = crypto.randomUUID();
    },
  };
};

/** Returns the function of a mutation for `useOnce`. `lost` says what an earlier attempt has made, and what sending it again makes. */
export const once =
  <Json, Data>(
    send: (json: Json, options: { headers: Record<string, string> }) => Promise<Data>,
    lost: { made: string; again: string },
  ) =>
  ({ json, idempotencyKey }: Once<Json>): Promise<Data> =>
    send(json, { headers: { 'idempotency-key': idempotencyKey } }).catch(
      reword('idempotency_conflict', {
        message: `An earlier attempt ${lost.made}, but its response was lost. ${lost.again}`,
      }),
    );
