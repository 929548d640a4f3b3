import { CopyIcon } from './copy.tsx';

/** A block of code with a copy button. */
export const Code = ({
  text,
  what,
  copyText = text,
}: {
  text: string;
  what: string;
  copyText?: string | (() => Promise<string>);
}) => (
  <div className="relative rounded-lg border border-line bg-sunken">
    <pre
      className="overflow-x-auto p-3.5 pr-12 text-xs leading-5"
      tabIndex={0}
      role="region"
      aria-label={what}
    >
      <code>{text}</code>
    </pre>
    <div className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
      <CopyIcon text={copyText} what={what} />
    </div>
  </div>
);
