import type { EntitlementValue } from '../../shared/rules/terms.ts';
import type { Claims } from '../../shared/rules/tokens.ts';
import type { MachineName, Verdict } from '../../shared/rules/verdict.ts';

// The public types. They use no type of a platform, so that they mean the same in Node, browsers, and Workers.

/** An Ed25519 public key. */
export interface PublicKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

/** An account's public keys, as `npm run latchkey -- keys pull` writes them. */
export interface PinnedKeys {
  /** The account's id, which every token must name. */
  account: string;
  keys: readonly PublicKey[];
}

/** Where the license key and the last token are stored: one text, or null. */
export interface Store {
  get(): Promise<string | null>;
  set(text: string | null): Promise<void>;
  /** Runs an update, a `get` and a `set`, while no other process runs one. */
  lock?<T>(update: () => Promise<T>): Promise<T>;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<{
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

export interface LicenseOptions {
  /** The service's origin, for example `https://latchkey.example.com`. */
  baseUrl: string;
  /** An API key of scope `verify`. */
  apiKey: string;
  keys: PinnedKeys;
  /** Your product's code. A license of another product is not valid. */
  product?: string | undefined;
  appVersion?: string | undefined;
  /** The day on which this version was released, `YYYY-MM-DD`. */
  releaseDate?: string | undefined;
  /** Without a store, nothing outlasts the process. */
  store?: Store | undefined;
  /** Identifies the machine: 8 to 256 visible ASCII characters. */
  fingerprint?: string | undefined;
  fetch?: Fetch | undefined;
  /** Returns the machine's time in milliseconds. */
  now?: (() => number) | undefined;
  /** Whether heartbeats keep the seat of a license with a lease. */
  heartbeat?: 'auto' | 'off' | undefined;
}

export type { EntitlementValue };

export type LicenseStatus = Verdict['status'];

export type LicenseCode =
  /** What the service says. */
  | Claims['code']
  /** The store hasn't been read yet, or the first verdict isn't here. */
  | 'loading'
  /** There is no license key. */
  | 'key_missing'
  /** There is no verdict, because the service couldn't be reached or didn't answer with a good token. */
  | 'inconclusive'
  /** The stored token has ended. */
  | 'offline_expired'
  /** The clock is earlier than a time that was seen before. */
  | 'clock_rolled_back'
  /** The text is no offline file of this account: for example, it was cut off. */
  | 'file_invalid';

export interface LicenseActivation extends Readonly<MachineName> {
  readonly activatedAt: Date | null;
  /** Until when the seat is held without another call. Null if it is held until it is released. */
  readonly leaseUntil: Date | null;
}

/** A machine that holds a seat, and that `activate` can replace. */
export interface LicenseMachine extends Readonly<MachineName> {
  readonly lastSeenAt: Date | null;
}

/** What is known about the license. Each change makes a new object. */
export interface LicenseState {
  /** True exactly if `code` is `valid`. */
  readonly valid: boolean;
  readonly code: LicenseCode;
  /** Null if there is no verdict. */
  readonly status: LicenseStatus | null;
  /** Whether the verdict was received by this process, was stored, or doesn't exist. */
  readonly source: 'network' | 'stored' | 'none';
  readonly entitlements: Readonly<Verdict['entitlements']>;
  /** The last moment of the license, or null if it never ends. */
  readonly expiresAt: Date | null;
  /** The last moment whose releases are covered. */
  readonly updatesUntil: Date | null;
  readonly seats: Readonly<Verdict['seats']>;
  readonly activation: LicenseActivation | null;
  /** With `no_seat` and `self_service`: the machines that hold the seats. */
  readonly machines: readonly LicenseMachine[] | null;
  /** How long the verdict is good without contact. */
  readonly offlineUntil: Date | null;
  /** When the verdict was signed. */
  readonly checkedAt: Date | null;
  /** The last moment of the days of grace after `expiresAt`, or null. */
  readonly graceUntil: Date | null;
  /** Why the last call or the store said nothing, or null. */
  readonly problem: LicenseProblem | null;
  /** Where the fingerprint comes from: the system's id, an id that is stored in `dir`, or the option. */
  readonly machine: 'system' | 'stored' | 'given';
}

export interface LicenseProblem {
  readonly kind: 'network' | 'refused' | 'quota' | 'config' | 'crypto' | 'store' | 'clock';
  /** For a developer or a log. It names no secret. */
  readonly message: string;
  /** The HTTP status, if there was a response. */
  readonly status?: number;
  /** What the service calls the request. */
  readonly requestId?: string;
}

export interface LoadFileOptions {
  /** Whether the file of another license replaces one that is valid. */
  replace?: boolean | undefined;
}

export interface ActivateOptions {
  /** The id of the machine in `state.machines` whose seat this machine takes. */
  replace?: string | undefined;
  /** The machine's name, by which the seller and the customer recognize it. */
  name?: string | undefined;
  /** Asks for a longer or shorter lease, for example for a journey. Ignored where there is no lease. */
  leaseSeconds?: number | undefined;
}

/** Every call resolves with the state. None rejects because of the network or the service. */
export interface License {
  readonly state: LicenseState;
  /** Reads the store, and keeps the license up to date from then on. */
  start(): Promise<LicenseState>;
  /** Takes a seat. Without a key, uses the license key that was used last. */
  activate(key?: string, options?: ActivateOptions): Promise<LicenseState>;
  /** Takes the text of an offline file. */
  loadFile(token: string, options?: LoadFileOptions): Promise<LicenseState>;
  /** Drops the license key, the token, and the file, without a call. */
  forget(): Promise<LicenseState>;
  /** Verifies the license now. */
  refresh(): Promise<LicenseState>;
  /** Releases the seat. */
  deactivate(): Promise<LicenseState>;
  /** Ends timers and calls in progress. */
  stop(): Promise<LicenseState>;
  /** Whether the license is valid and has the entitlement. */
  has(name: string): boolean;
  /** The entitlement's value, or undefined if the license is not valid. */
  entitlement(name: string): EntitlementValue | undefined;
  /** Calls the function with each new state. Returns a function that ends this. */
  onChange(listener: (state: LicenseState) => void): () => void;
}
