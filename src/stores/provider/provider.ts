import type { StoreFact, Thing } from '../../purchases/rules/facts.ts';

// What a provider's module implements. It knows the provider's words and turns them into facts, and nothing beyond it knows them.

/** A request to a store's URL. */
export interface StoreDelivery {
  /** As it was sent: the signature is over these bytes. */
  body: Uint8Array;
  headers: Headers;
  /** What follows the store's id in the path, for a provider that signs nothing. */
  token: string | null;
  nowMs: number;
}

/** A body that is signed. It may be read again later, so a reading depends on nothing else. */
export interface Message {
  body: string;
  /** The value of the provider's `topicHeader`. */
  topic: string | null;
}

export type StoreReading =
  | {
      kind: 'facts';
      /** The provider's word for what has happened, which people see. */
      type: string;
      facts: StoreFact[];
      /**
       * What the body doesn't say and `api.ask` has to tell, in words of the provider, such as `sale/abc`. It is asked after the
       * answer, and again until the API has answered. A sale that has to be confirmed has no facts before. What is merely better
       * to know begins with `?`, and isn't asked in a store without an API key.
       */
      asks?: string[];
      /** Whether it may be sent of a sale of long ago, for what has become of it. */
      reachesBack?: true;
    }
  /** What no license depends on. */
  | { kind: 'nothing'; type: string }
  /** A signed body that isn't what the provider documents, with what is wrong with it. It is kept and shown. */
  | { kind: 'unreadable'; problem: string };

export interface ApiRequest {
  /** `GET` unless it has a form or JSON. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Record<string, string>;
  form?: Record<string, string>;
  json?: unknown;
}

/** How a module calls its provider's API. */
export interface ApiAccess {
  /** What the seller gave as `api_key`. */
  key: string;
  /**
   * Requests a path, such as `/v1/events?limit=100`, below the module's `origin`, and returns the JSON of the answer. Throws a
   * `StoreApiError`, with the status or null, for any other answer, and if there is none.
   */
  call: (path: string, request?: ApiRequest) => Promise<unknown>;
}

/** A page of what has happened at the store. */
export interface RecentPage {
  facts: StoreFact[];
  /** As in a reading. They are asked each time that they are listed, and only once if the page reaches back. */
  asks?: string[];
  /** Whether it also has what is older, for what has become of it. */
  reachesBack?: true;
  /** With what to ask for the next page. Null on the last one. */
  next: string | null;
}

export interface StoreApi {
  /** Where the API is, such as `https://api.example.com`. From the key, if each shop has its own. */
  origin: (key: string) => string;
  /** Returns what is wrong with a key, or null. */
  keyProblem?: (key: string) => string | null;
  /** Lists what has happened since a time, the same facts as by notifications: sales, renewals, refunds, ends. */
  listRecent: (access: ApiAccess, sinceMs: number, cursor: string | null) => Promise<RecentPage>;
  /** Answers one of the `asks` of a reading. */
  ask?: (access: ApiAccess, ask: string) => Promise<StoreFact[]>;
  /** Lets the provider send its notifications to the URL, where it can't be told that elsewhere. It can be repeated. */
  connect?: (access: ApiAccess, webhookUrl: string) => Promise<void>;
  /** Whether `storeLink` has a page only for a customer whom the store knows by an id. */
  needsBuyer?: true;
  /** Returns the store's own page for a customer's invoices, or null. `things` are those of the purchase. */
  storeLink?: (access: ApiAccess, things: Thing[], buyer: Thing | null) => Promise<string | null>;
}

export interface StoreProvider {
  /** Whether the seller gives the secret by which deliveries are known, or the service makes it (for a path). */
  secret: 'given' | 'made';
  /** Whether a store can't do without `api_key`. */
  needsApi?: true;
  /** The header that a reading needs besides the body. */
  topicHeader?: string;
  /** Whether one of the secrets has signed the body, compared in constant time. */
  isSigned: (delivery: StoreDelivery, secrets: string[]) => boolean;
  /** Whether it is an unsigned request by which the provider tries the URL, and which is answered 200 and says nothing. */
  isPing?: (delivery: StoreDelivery) => boolean;
  read: (message: Message) => StoreReading;
  /** Null for a provider without one. */
  api: StoreApi | null;
}
