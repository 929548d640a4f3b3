import type { Receipt } from '../rules/replies.ts';

/** A change that was announced and whose outcome the gate doesn't know yet. */
interface Announced {
  /** Names the change in the calls of its request. */
  token: string;
  atMs: number;
  /** The id of the row that the change creates or updates. */
  ref: string;
  receipt: Receipt | null;
  /** Of the changes with the same claim only one can be committed, so they share a receipt. */
  claim: string | null;
}

export type Announcing = Omit<Announced, 'atMs'>;

const MAX_ANNOUNCED = 1_000;

const ANNOUNCED = 'announced';

const sharesReceipt = (change: Announced, other: Announced) =>
  other.receipt !== null && !!change.claim && change.claim === other.claim;

/** Stores the announced changes, with the receipts that are refunded if a change turns out not to be committed. */
export const openAnnounced = (kv: SyncKvStorage) => {
  let announced = kv.get<Announced[]>(ANNOUNCED) ?? [];

  const save = (changes: Announced[]) => {
    announced = changes;
    if (changes.length === 0) kv.delete(ANNOUNCED);
    else kv.put(ANNOUNCED, changes);
  };

  /** The changes were committed, so their calls stay counted. */
  const dropReceipts = (isCommitted: (change: Announced) => boolean) => {
    const committed = announced.filter((change) => change.receipt && isCommitted(change));
    if (committed.length === 0) return;
    const isCounted = (change: Announced) =>
      committed.includes(change) || committed.some((other) => sharesReceipt(change, other));
    save(announced.map((change) => (isCounted(change) ? { ...change, receipt: null } : change)));
  };

  /** Returns the receipts that no other change needs. */
  const remove = (isOver: (change: Announced) => boolean): Receipt[] => {
    const over = announced.filter(isOver);
    if (over.length === 0) return [];
    const left = announced.filter((change) => !isOver(change));
    save(left);
    return over.flatMap((change, i) => {
      const isShared = [...left, ...over.slice(i + 1)].some((other) => sharesReceipt(change, other));
      return change.receipt && !isShared ? [change.receipt] : [];
    });
  };

  return {
    timesMs: () => announced.map(({ atMs }) => atMs),
    isFull: () => announced.length >= MAX_ANNOUNCED,

    has: (token: string) => announced.some((change) => change.token === token),

    add: (change: Announcing) => {
      save([...announced, { atMs: Date.now(), ...change }]);
    },

    /** Returns the receipt that changes with this claim share, or null if none of them was counted. */
    receiptOf: (claim: string): Receipt | null =>
      announced.find((change) => change.claim === claim && change.receipt)?.receipt ?? null,

    dropReceipts,
    remove,

    /** The change was committed and applied. */
    settle: (token: string) => {
      dropReceipts((change) => change.token === token);
      remove((change) => change.token === token);
    },
  };
};

export type AnnouncedChanges = ReturnType<typeof openAnnounced>;
