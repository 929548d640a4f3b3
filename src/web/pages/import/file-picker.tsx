import { FileUp } from 'lucide-react';
import { useState } from 'react';
import type { ImportFormat } from '../../../shared/rules/records.ts';
import { formatCompact } from '../../lib/format.ts';
import { cx } from '../../ui/cx.ts';
import type { ChosenFile } from './preview.tsx';

const FORMATS: [pattern: RegExp, format: ImportFormat][] = [
  [/\.csv$/i, 'csv'],
  [/\.(?:ndjson|jsonl|json)$/i, 'ndjson'],
];

const formatOf = (name: string) => FORMATS.find(([pattern]) => pattern.test(name))?.[1];

let files = 0;

/** A field for a file. It covers its label, so that a file can be dropped anywhere on it. */
export const FilePicker = ({
  file,
  onChoose,
}: {
  file: File | null;
  onChoose: (chosen: ChosenFile) => void;
}) => {
  const [isOver, setOver] = useState(false);
  const [isUnknown, setUnknown] = useState(false);
  const choose = (picked: File | undefined) => {
    if (!picked) return;
    const format = formatOf(picked.name);
    setUnknown(!format);
    if (format) onChoose({ id: files++, file: picked, format });
  };
  return (
    <div className="grid gap-1.5">
      <label
        className={cx(
          'relative grid cursor-pointer grid-cols-[minmax(0,1fr)] place-items-center gap-1 rounded-lg border border-dashed px-4 py-8 text-center transition-colors',
          'has-focus-visible:outline-2 has-focus-visible:outline-brass-line',
          isOver ? 'border-brass-line bg-brass-soft' : 'border-line-strong hover:bg-hover',
        )}
      >
        <FileUp aria-hidden className="size-5 text-muted" />
        <span className="font-medium break-all">{file ? file.name : 'Choose a file, or drop it here'}</span>
        <span className="text-sm text-muted">
          {file ? `${formatCompact(file.size)} bytes. Choose another file to replace it.` : 'CSV or NDJSON'}
        </span>
        <input
          type="file"
          onDragEnter={() => setOver(true)}
          onDragLeave={() => setOver(false)}
          onDrop={() => setOver(false)}
          accept=".csv,.ndjson,.jsonl,.json"
          aria-invalid={isUnknown || undefined}
          aria-describedby={isUnknown ? 'file-error' : undefined}
          onChange={({ currentTarget }) => {
            choose(currentTarget.files?.[0]);
            // The same file can be chosen again after it was changed.
            currentTarget.value = '';
          }}
          className="absolute inset-0 cursor-pointer opacity-0"
        />
      </label>
      {isUnknown && (
        <p id="file-error" role="alert" className="text-sm text-bad">
          The name of the file has to end with .csv, .ndjson or .jsonl.
        </p>
      )}
    </div>
  );
};
