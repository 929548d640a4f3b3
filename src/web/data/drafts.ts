// What somebody has typed into a form and not sent. It stays in this tab, until it is sent or discarded, its dialog is closed, or
// its account signs out, so that neither a reload, another page, nor the end of the session loses it.

const DRAFTS = 'latchkey.draft';

export type DraftValues = Record<string, string>;

export interface KeptDraft {
  values: DraftValues;
  /** The Idempotency-Key of what the form makes. */
  key?: string;
  /** See `Known`. */
  known?: object[];
}

/** What a record may have: what it had when its form was opened, and what the form has sent since without an answer. */
export interface Known {
  read: () => object[];
  write: (records: object[]) => void;
}

export const openKnown = (initial: object[] = []): Known => {
  let records = initial;
  return {
    read: () => records,
    write: (next) => {
      records = next;
    },
  };
};

const keyOf = (accountId: string, form: string) => `${DRAFTS}.${accountId}.${form}`;

export const readDraft = (accountId: string, form: string): KeptDraft | null => {
  const text = sessionStorage.getItem(keyOf(accountId, form));
  return text === null ? null : (JSON.parse(text) as KeptDraft);
};

export const writeDraft = (accountId: string, form: string, draft: KeptDraft) =>
  sessionStorage.setItem(keyOf(accountId, form), JSON.stringify(draft));

export const dropDraft = (accountId: string, form: string) =>
  sessionStorage.removeItem(keyOf(accountId, form));

/** Drops the drafts of all accounts but one. */
export const dropDrafts = (exceptAccountId: string | null) => {
  const kept = exceptAccountId === null ? null : keyOf(exceptAccountId, '');
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(DRAFTS) && (kept === null || !key.startsWith(kept))) sessionStorage.removeItem(key);
};
