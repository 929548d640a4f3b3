import { text } from './bytes.ts';
import { type Checks, type Holding, merge } from './holding.ts';
import { type ClientSettings, type Runtime, within } from './options.ts';
import { EMPTY_RECORD, isWorthWriting, type LicenseRecord, openSealer } from './record.ts';
import type { LicenseProblem } from './types.ts';

/** What the store doesn't answer within this time, it is asked again only once it has answered. */
const STORE_MS = 5_000;
/** How often an update begins anew because another process has written in the middle of it. */
const ATTEMPTS = 3;

/** What an update works on. */
export interface Owner {
  holding(): Holding;
  /** Takes over what was merged and changed. Returns what has to be written, and whether it is good now. */
  adopt(next: Holding): { record: LicenseRecord; isValid: boolean };
}

/** What changes a holding. If an update begins anew, it is applied again. */
export type Change = (current: Holding) => Holding;

/** Keeps a holding in a store that may fail, may never answer, and may be written by other processes. */
export const openStorage = (settings: ClientSettings, runtime: Runtime, { hold }: Checks, owner: Owner) => {
  const { store } = settings;
  const sealer = openSealer(settings);
  const problems = new Map<string, LicenseProblem>();
  const stuck = new Set<string>();
  /** The text that was read or written last, and its record. */
  let known: string | null = null;
  let stored = EMPTY_RECORD;
  let queue = Promise.resolve();

  /** Resolves with undefined if the store fails. */
  const use = async <T>(name: string, run: () => T | Promise<T>): Promise<T | undefined> => {
    if (stuck.has(name)) return undefined;
    stuck.add(name);
    const used = (async () => run())().finally(() => stuck.delete(name));
    // An error's message may name anything, its code and path don't.
    const words = [name];
    const done = used.then(
      (result) => ({ result }),
      (error: { code?: unknown; path?: unknown } | undefined) => {
        words.push(text(error?.code) ?? '', text(error?.path) ?? '');
      },
    );
    const ended = await within(runtime, STORE_MS, done);
    if (ended) problems.delete(name);
    else problems.set(name, { kind: 'store', message: `The store fails: ${words.join(' ')}`.trim() });
    return ended?.result;
  };
  const get = () => use('get', () => store.get());

  const run = async (change: Change | undefined, isForced: boolean | undefined) => {
    for (let count = 0; count < ATTEMPTS; count += 1) {
      const read = await get();
      let holding = owner.holding();
      if (read !== undefined && read !== known) {
        known = read;
        const record = await sealer.read(read);
        stored = record ?? EMPTY_RECORD;
        // What was there before the first answer of this process is no reason to forget the answer.
        if (record) holding = merge(owner.holding(), await hold(record));
      }
      const { record, isValid } = owner.adopt(change ? change(holding) : holding);
      // A store that can't be read now may have more than is known here.
      if (read === undefined ? !isForced : !isWorthWriting(record, stored, isValid)) return;
      if (read !== undefined && (await get()) !== read) continue;
      const written = await sealer.write(record);
      const isWritten = await use('set', async () => {
        await store.set(written);
        return true;
      });
      if (isWritten) [known, stored] = [written, record];
      return;
    }
  };

  /** Runs an update in the store's lock. If it isn't given in time, the comparison before the write has to do. */
  const runLocked = async (change: Change | undefined, isForced: boolean | undefined) => {
    let started: Promise<void> | undefined;
    const once = () => (started ??= run(change, isForced));
    let ended: Promise<unknown> | undefined;
    const given = new Promise<void>((resolve) => {
      const start = () => {
        resolve();
        return once();
      };
      if (store.lock) ended = (async () => store.lock?.(start))();
    });
    // While an earlier lock is pending, nobody waits for this one, and it may fail.
    ended?.catch(() => {});
    if (ended) await use('lock', () => Promise.race([given, ended]));
    await once();
    if (ended) await use('lock', () => ended);
  };

  return {
    problem: (): LicenseProblem | null => [...problems.values()][0] ?? null,
    /** Reads the store, applies the change, and writes the store. One update runs at a time. */
    update: (change?: Change, isForced?: boolean): Promise<void> => {
      const runNext = () => runLocked(change, isForced);
      queue = queue.then(runNext, runNext);
      return queue;
    },
  };
};
