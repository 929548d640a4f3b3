import {
  createContext,
  Fragment,
  type ReactNode,
  type RefObject,
  use,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react';
import { type DraftValues, dropDraft, type Known, openKnown, readDraft, writeDraft } from '../data/drafts.ts';
import { ApiError } from '../data/error.ts';
import { type OnceKey, openKey } from '../data/once.ts';
import { signedInAccountId } from '../data/session.ts';
import { changesFrom } from '../lib/changes.ts';
import { Button } from './button.tsx';
import { Holding } from './hold.ts';
import type { ValueRow } from './values.ts';

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** A field whose text isn't stored anywhere but where it belongs. */
const isSecret = ({ name, type, autocomplete }: Field) =>
  type === 'password' || autocomplete === 'one-time-code' || name === 'license_key';

const fieldsOf = (form: HTMLFormElement): Field[] =>
  [...form.elements].filter(
    (element): element is Field =>
      (element instanceof HTMLInputElement ||
        element instanceof HTMLSelectElement ||
        element instanceof HTMLTextAreaElement) &&
      element.name !== '' &&
      !isSecret(element),
  );

const isBox = (field: Field): field is HTMLInputElement =>
  field.type === 'checkbox' || field.type === 'radio';
/** Boxes of one name differ in their values. */
const keyOf = (field: Field) => (isBox(field) ? `${field.name}=${field.value}` : field.name);
const valueOf = (field: Field) => (isBox(field) ? `${field.checked}` : field.value);

/** Sets a field as if somebody had typed the text, which React notices. */
const setValue = (field: Field, value: string) => {
  if (valueOf(field) === value) return;
  // Choosing another radio button clears this one.
  if (isBox(field)) return field.type === 'radio' && value === 'false' ? undefined : field.click();
  const isSelect = field instanceof HTMLSelectElement;
  if (isSelect && ![...field.options].some((option) => option.value === value)) return;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  field.dispatchEvent(new Event(isSelect ? 'change' : 'input', { bubbles: true }));
};

/** A field can show others, which are set the next time. */
const PASSES = 3;

const restore = async (form: HTMLFormElement, values: DraftValues) => {
  for (let pass = 0; pass < PASSES; pass++) {
    for (const field of fieldsOf(form)) setValue(field, values[keyOf(field)] ?? valueOf(field));
    await new Promise((resolve) => setTimeout(resolve));
  }
};

export interface Draft {
  /** What was typed before a reload, before the session ended, or before the form's page was left. */
  values: DraftValues | null;
  key: OnceKey;
  /** Also from before a reload. */
  known: Known;
  save: (form: HTMLFormElement) => void;
  drop: () => void;
}

const Drafts = createContext<Draft | null>(null);

/** The draft of the `Drafted` form around, for its `Form` and for the state that begins with it. */
export const useDraft = (): Draft | null => use(Drafts);

/** Returns the rows of a `ValuesField` that a draft has. */
export const draftRows = (draft: Draft | null, map: string): ValueRow[] | null => {
  if (!draft?.values) return null;
  const rows = new Map<number, Record<string, string>>();
  for (const [name, value] of Object.entries(draft.values)) {
    const [, id, part = ''] = name.startsWith(`${map}.`) ? (/\.(\d+)\.(\w+)$/.exec(name) ?? []) : [];
    if (id !== undefined) rows.set(Number(id), { ...rows.get(Number(id)), [part]: value });
  }
  return [...rows].map(([id, { name = '', kind = 'text', value = '' }]) => ({
    id,
    name,
    kind: kind as ValueRow['kind'],
    value,
  }));
};

/**
 * What a form's record had when the form was opened, and how what the form sends differs from what the record may have. The
 * rest isn't sent, because it may have changed elsewhere. A form that stays says what it has `saved`.
 */
export const useOpened = <Values extends object>(current: Values) => {
  const draft = useDraft();
  const [known] = useState(() => draft?.known ?? openKnown());
  const [opened] = useState(() => (known.read()[0] as Values | undefined) ?? current);
  useEffect(() => {
    if (known.read().length === 0) known.write([opened]);
  }, [known, opened]);
  return {
    opened,
    known: () => known.read() as Partial<Values>[],
    changesTo: <Sent extends object>(values: Sent) => {
      const changes = changesFrom(known.read(), values);
      known.write([...known.read(), values]);
      return changes;
    },
    saved: (values: Values) => known.write([values]),
  };
};

/** Returns what a `KeptField` has kept, or the value of a new form. */
export const keptValue = <Value,>(draft: Draft | null, name: string, initial: Value): Value => {
  const text = draft?.values?.[name];
  return text === undefined ? initial : (JSON.parse(text) as Value);
};

/** Keeps in the draft what somebody chooses in parts of the form that aren't fields of it. */
export const KeptField = ({ name, value }: { name: string; value: unknown }) => {
  const ref = useRef<HTMLInputElement>(null);
  const text = JSON.stringify(value);
  const before = useRef(text);
  useEffect(() => {
    if (before.current !== text) ref.current?.dispatchEvent(new Event('input', { bubbles: true }));
    before.current = text;
  }, [text]);
  return <input ref={ref} type="hidden" name={name} value={text} />;
};

const isRefused = (error: unknown) => error instanceof ApiError && error.status >= 400 && error.status < 500;

/** Restores the draft of a form, and drops it once the form is sent, or its dialog is closed. */
export const useDrafting = (
  draft: Draft | null,
  form: RefObject<HTMLFormElement | null>,
  { isPending, isSuccess = false, error }: { isPending: boolean; isSuccess?: boolean; error: unknown },
) => {
  const isInDialog = use(Holding) !== null;
  // Whoever closes a dialog has sent or discarded its form, unless the session has ended. A page is left to come back.
  const isDone = useEffectEvent(() => isInDialog || isPending);
  useEffect(() => {
    if (draft?.values && form.current) void restore(form.current, draft.values);
    return () => {
      if (isDone()) draft?.drop();
    };
  }, [draft, form]);
  useEffect(() => {
    if (isSuccess) draft?.drop();
  }, [draft, isSuccess]);
  useEffect(() => {
    // The record doesn't have what was refused.
    if (isRefused(error)) draft?.known.write(draft.known.read().slice(0, -1));
  }, [draft, error]);
};

const openDraft = (name: string, onDrop: () => void): Draft => {
  const accountId = signedInAccountId() ?? '';
  const kept = readDraft(accountId, name);
  const key = openKey(kept?.key);
  const known = openKnown(kept?.known);
  return {
    values: kept?.values ?? null,
    key,
    known,
    save: (form) =>
      writeDraft(accountId, name, {
        values: Object.fromEntries(fieldsOf(form).map((field) => [keyOf(field), valueOf(field)])),
        key: key.read(),
        known: known.read(),
      }),
    drop: () => {
      if (signedInAccountId() !== accountId) return;
      dropDraft(accountId, name);
      onDrop();
    },
  };
};

/** A form whose draft survives a reload and the end of the session, and leaving its page, unless it is in a dialog. */
export const Drafted = ({ name, children }: { name: string; children: ReactNode }) => {
  const [isBack, setBack] = useState(true);
  const open = () => openDraft(name, () => setBack(false));
  const [draft, setDraft] = useState(open);
  const discard = () => {
    draft.drop();
    setDraft(open());
  };
  return (
    <Drafts value={draft}>
      {draft.values && isBack && (
        <div
          role="status"
          className="mb-4 flex flex-wrap items-center justify-between gap-2 rounded-lg bg-sunken py-2 pr-2 pl-3"
        >
          What you had typed is back.
          <Button size="sm" variant="quiet" onClick={discard}>
            Discard it
          </Button>
        </div>
      )}
      <Fragment key={draft.values ? 'restored' : 'new'}>{children}</Fragment>
    </Drafts>
  );
};
