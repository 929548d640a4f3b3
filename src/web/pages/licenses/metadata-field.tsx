import { ChevronDown, Plus, Trash2 } from 'lucide-react';
import { type ComponentProps, useRef } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { useFieldError } from '../../ui/form.tsx';
import { fieldOf, type MetadataKind, type MetadataRow, nextId } from './metadata.ts';

const CELL =
  'h-9 w-full min-w-0 scroll-my-8 rounded-lg border border-line-strong bg-surface px-2.5 text-base outline-offset-0 transition-colors hover:border-muted focus-visible:border-brass-line aria-invalid:border-bad max-sm:text-lg';

const Cell = ({ name, ...props }: ComponentProps<'input'> & { name: string }) => {
  const error = useFieldError(name);
  return <input {...props} name={name} aria-invalid={error ? true : undefined} className={CELL} />;
};

const SelectCell = (props: ComponentProps<'select'>) => (
  <span className="relative block">
    <select {...props} className={cx(CELL, 'appearance-none pr-7')} />
    <ChevronDown aria-hidden className="pointer-events-none absolute top-2.5 right-2 size-4 text-muted" />
  </span>
);

const Row = ({
  row,
  isNew,
  onChange,
  onRemove,
}: {
  row: MetadataRow;
  isNew: boolean;
  onChange: (row: MetadataRow) => void;
  onRemove: () => void;
}) => {
  const nameError = useFieldError(fieldOf(row.id, 'name'));
  const valueError = useFieldError(fieldOf(row.id, 'value'));
  const error = nameError ?? valueError;
  const choose = (kind: MetadataKind) => {
    const isSwitch = kind === 'boolean' || row.kind === 'boolean';
    const value = kind === 'boolean' ? 'true' : '';
    onChange({ ...row, kind, ...(isSwitch && { value }) });
  };
  const errorId = `metadata-${row.id}-error`;
  return (
    <li className="grid gap-1.5">
      <div className="grid grid-cols-[minmax(0,1fr)_8rem_2rem] items-center gap-2 sm:grid-cols-[minmax(0,1fr)_7rem_minmax(0,1fr)_2rem]">
        <Cell
          name={fieldOf(row.id, 'name')}
          aria-label="Metadata name"
          aria-describedby={nameError && errorId}
          placeholder="seats"
          autoComplete="off"
          spellCheck={false}
          // Only in a row that was just added.
          autoFocus={isNew}
          value={row.name}
          onChange={(event) => onChange({ ...row, name: event.currentTarget.value })}
        />
        <SelectCell
          aria-label="Metadata type"
          value={row.kind}
          onChange={(event) => choose(event.currentTarget.value as MetadataKind)}
        >
          <option value="text">Text</option>
          <option value="number">Number</option>
          <option value="boolean">True/false</option>
        </SelectCell>
        <div className="max-sm:order-last max-sm:col-span-3">
          {row.kind === 'boolean' ? (
            <SelectCell
              aria-label="Metadata value"
              value={row.value}
              onChange={(event) => onChange({ ...row, value: event.currentTarget.value })}
            >
              <option value="true">true</option>
              <option value="false">false</option>
            </SelectCell>
          ) : (
            <Cell
              name={fieldOf(row.id, 'value')}
              aria-label="Metadata value"
              aria-describedby={valueError && errorId}
              placeholder={row.kind === 'number' ? '10' : 'Value'}
              autoComplete="off"
              inputMode={row.kind === 'number' ? 'decimal' : 'text'}
              value={row.value}
              onChange={(event) => onChange({ ...row, value: event.currentTarget.value })}
            />
          )}
        </div>
        <IconButton label={`Remove ${row.name || 'this row'}`} onClick={onRemove}>
          <Trash2 aria-hidden />
        </IconButton>
      </div>
      {error && (
        <p id={errorId} className="text-sm text-bad">
          {error}
        </p>
      )}
    </li>
  );
};

/** Edits metadata as rows of name, type and value. */
export const MetadataField = ({
  rows,
  onChange,
}: {
  rows: MetadataRow[];
  onChange: (rows: MetadataRow[]) => void;
}) => {
  const error = useFieldError('metadata');
  const add = useRef<HTMLButtonElement>(null);
  const addRow = () => onChange([...rows, { id: nextId(rows), name: '', kind: 'text', value: '' }]);
  const remove = (id: number) => {
    onChange(rows.filter((row) => row.id !== id));
    add.current?.focus();
  };
  return (
    <fieldset
      name="metadata"
      tabIndex={-1}
      aria-describedby={error ? 'metadata-error' : undefined}
      className="grid min-w-0 gap-2.5"
    >
      <legend className="mb-1.5 text-sm font-medium">Metadata</legend>
      {rows.length > 0 && (
        <ul className="grid gap-3 sm:gap-2">
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              isNew={row.name === '' && row.value === ''}
              onChange={(changed) => onChange(rows.map((other) => (other.id === row.id ? changed : other)))}
              onRemove={() => remove(row.id)}
            />
          ))}
        </ul>
      )}
      {error && (
        <p id="metadata-error" className="text-sm text-bad">
          {error}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button ref={add} size="sm" onClick={addRow}>
          <Plus aria-hidden />
          Add metadata
        </Button>
        {rows.length === 0 && (
          <p className="text-sm text-muted">Any data you want to store with the license.</p>
        )}
      </div>
    </fieldset>
  );
};
