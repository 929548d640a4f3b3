import { Download, FileUp } from 'lucide-react';
import { useState } from 'react';
import { TEMPLATE } from '../../../shared/rules/import/template.ts';
import { downloadText } from '../../lib/download.ts';
import { formatBytes } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { TextArea } from '../../ui/form.tsx';

const Drop = ({ file, onChoose }: { file: File | null; onChoose: (file: File) => void }) => {
  const [isOver, setOver] = useState(false);
  return (
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
        {file ? `${formatBytes(file.size)}. Choose another file to replace it.` : 'CSV or JSON'}
      </span>
      <input
        type="file"
        onDragEnter={() => setOver(true)}
        onDragLeave={() => setOver(false)}
        onDrop={() => setOver(false)}
        accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json"
        onChange={({ currentTarget }) => {
          const picked = currentTarget.files?.[0];
          if (picked) onChoose(picked);
          // The same file can be chosen again after it was changed.
          currentTarget.value = '';
        }}
        className="absolute inset-0 cursor-pointer opacity-0"
      />
    </label>
  );
};

const Paste = ({ onChoose }: { onChoose: (file: File) => void }) => {
  const [text, setText] = useState('');
  return (
    <div className="grid gap-3">
      <TextArea
        label="Rows"
        name="rows"
        rows={6}
        hint="With the column names in the first row. Cells copied from a spreadsheet are fine."
        className="font-mono"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div>
        <Button
          size="sm"
          disabled={text.trim() === ''}
          onClick={() => onChoose(new File([text], 'pasted.csv', { type: 'text/csv' }))}
        >
          Read the rows
        </Button>
      </div>
    </div>
  );
};

/** Takes a file that is chosen or dropped, or rows that are pasted. */
export const FilePicker = ({ file, onChoose }: { file: File | null; onChoose: (file: File) => void }) => {
  const [isPasting, setPasting] = useState(false);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {isPasting ? <Paste onChoose={onChoose} /> : <Drop file={file} onChoose={onChoose} />}
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="quiet" onClick={() => setPasting(!isPasting)}>
          {isPasting ? 'Choose a file instead' : 'Paste rows instead'}
        </Button>
        <Button
          size="sm"
          variant="quiet"
          onClick={() => downloadText('latchkey-template.csv', 'text/csv', TEMPLATE)}
        >
          <Download aria-hidden />
          Template
        </Button>
      </div>
    </div>
  );
};
