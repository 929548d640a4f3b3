import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { useHold } from './hold.ts';
import { showError } from './toast.tsx';

const SHOWN_MS = 1_600;

/** Safari refuses what is written after the click, so a text that is fetched first is written as a promise. */
const write = async (text: string | (() => Promise<string>)) => {
  if (typeof text === 'string') return navigator.clipboard.writeText(text);
  const fetched = text();
  // Firefox has it since version 127, and allows writes after the click.
  if (!('ClipboardItem' in window)) return navigator.clipboard.writeText(await fetched);
  const blob = fetched.then((found) => new Blob([found], { type: 'text/plain' }));
  const written = navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
  // If the text can't be fetched, that is the error to show.
  await Promise.all([fetched, written]);
  return undefined;
};

const useCopy = (text: string | (() => Promise<string>)) => {
  const [isCopied, setCopied] = useState(false);
  const isBusy = useRef(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      await write(text);
      setCopied(true);
    } catch (error) {
      showError(error);
    } finally {
      isBusy.current = false;
    }
  };
  return { isCopied, copy: () => void copy() };
};

/** `text` may be a function that fetches the text first, such as a secret. */
export const CopyIcon = ({ text, what }: { text: string | (() => Promise<string>); what: string }) => {
  const { isCopied, copy } = useCopy(text);
  return (
    <IconButton label={isCopied ? 'Copied' : `Copy ${what}`} onClick={copy}>
      {isCopied ? <Check aria-hidden className="text-good" /> : <Copy aria-hidden />}
    </IconButton>
  );
};

/** A value with a copy button that doesn't make the row taller. */
export const Copyable = ({ text, what, children }: { text: string; what: string; children: ReactNode }) => (
  <span className="flex items-center gap-1">
    <span className="min-w-0 wrap-anywhere">{children}</span>
    <span className="-my-1.5">
      <CopyIcon text={text} what={what} />
    </span>
  </span>
);

export const CopyButton = ({ text, children = 'Copy' }: { text: string; children?: string }) => {
  const { isCopied, copy } = useCopy(text);
  return (
    <Button size="sm" onClick={copy}>
      {isCopied ? <Check aria-hidden className="text-good" /> : <Copy aria-hidden />}
      <span aria-live="polite">{isCopied ? 'Copied' : children}</span>
    </Button>
  );
};

/** A secret in full, with a copy button. */
export const Secret = ({
  value,
  what,
  isShownOnce,
}: {
  value: string;
  what: string;
  /** Whether it can't be seen again, so that a dialog isn't closed by mistake. */
  isShownOnce: boolean;
}) => {
  useHold(isShownOnce);
  return (
    <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1.5 pr-1.5 pl-3">
      <code className="min-w-0 flex-1 text-sm break-all select-all" data-secret>
        {value}
      </code>
      <CopyIcon text={value} what={what} />
    </div>
  );
};
