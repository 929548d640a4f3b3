import { ChevronDown, Plus, Trash2 } from 'lucide-react';
import { type ComponentProps, useRef } from 'react';
import { capitalize } from '../lib/format.ts';
import { Button, IconButton } from './button.tsx';
import { cx } from './cx.ts';
import { useFieldError } from './form.tsx';
import { fieldOf, nextId, type ValueKind, type ValueRow } from './values.ts';

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

interface MapProps {
  /** The map's field in the API. */
  name: string;
  /** What a row is called: "metadata", "entitlement". */
  noun: string;
  /** An example of a name. */
  example: string;
  /** Whether a row may take an inherited value away. */
  canRemove?: boolean;
}

const ValueCell = ({
  map,
  row,
  describedBy,
  onChange,
}: {
  map: MapProps;
  row: ValueRow;
  describedBy: string | undefined;
  onChange: (row: ValueRow) => void;
}) => {
  const label = `${capitalize(map.noun)} value`;
  if (row.kind === 'removed')
    return <p className="px-1 text-sm text-muted">The product’s {map.noun} is removed</p>;
  if (row.kind === 'boolean') {
    return (
      <SelectCell
        name={fieldOf(map.name, row.id, 'value')}
        aria-label={label}
        value={row.value}
        onChange={(event) => onChange({ ...row, value: event.currentTarget.value })}
      >
        <option value="true">true</option>
        <option value="false">false</option>
      </SelectCell>
    );
  }
  return (
    <Cell
      name={fieldOf(map.name, row.id, 'value')}
      aria-label={label}
      aria-describedby={describedBy}
      placeholder={row.kind === 'number' ? '10' : 'Value'}
      autoComplete="off"
      inputMode={row.kind === 'number' ? 'decimal' : 'text'}
      value={row.value}
      onChange={(event) => onChange({ ...row, value: event.currentTarget.value })}
    />
  );
};

const EMPTY_VALUES: Partial<Record<ValueKind, string>> = { boolean: 'true', removed: '' };

const Row = ({
  map,
  row,
  isNew,
  onChange,
  onRemove,
}: {
  map: MapProps;
  row: ValueRow;
  isNew: boolean;
  onChange: (row: ValueRow) => void;
  onRemove: () => void;
}) => {
  const nameError = useFieldError(fieldOf(map.name, row.id, 'name'));
  const valueError = useFieldError(fieldOf(map.name, row.id, 'value'));
  const error = nameError ?? valueError;
  const choose = (kind: ValueKind) => {
    const isSwitch = kind in EMPTY_VALUES || row.kind in EMPTY_VALUES;
    onChange({ ...row, kind, ...(isSwitch && { value: EMPTY_VALUES[kind] ?? '' }) });
  };
  const noun = capitalize(map.noun);
  const errorId = `${map.name}-${row.id}-error`;
  return (
    <li className="grid gap-1.5">
      <div className="grid grid-cols-[minmax(0,1fr)_8rem_2rem] items-center gap-2 sm:grid-cols-[minmax(0,1fr)_7rem_minmax(0,1fr)_2rem]">
        <Cell
          name={fieldOf(map.name, row.id, 'name')}
          aria-label={`${noun} name`}
          aria-describedby={nameError && errorId}
          placeholder={map.example}
          autoComplete="off"
          spellCheck={false}
          // Only in a row that was just added.
          autoFocus={isNew}
          value={row.name}
          onChange={(event) => onChange({ ...row, name: event.currentTarget.value })}
        />
        <SelectCell
          name={fieldOf(map.name, row.id, 'kind')}
          aria-label={`${noun} type`}
          value={row.kind}
          onChange={(event) => choose(event.currentTarget.value as ValueKind)}
        >
          <option value="text">Text</option>
          <option value="number">Number</option>
          <option value="boolean">True/false</option>
          {map.canRemove && <option value="removed">Removed</option>}
        </SelectCell>
        <div className="max-sm:order-last max-sm:col-span-3">
          <ValueCell map={map} row={row} describedBy={valueError && errorId} onChange={onChange} />
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

/** Edits a flat map as rows of name, type and value. */
export const ValuesField = ({
  label,
  hint,
  rows,
  onChange,
  ...map
}: MapProps & {
  label: string;
  hint: string;
  rows: ValueRow[];
  onChange: (rows: ValueRow[]) => void;
}) => {
  const error = useFieldError(map.name);
  const errorId = `${map.name}-error`;
  const add = useRef<HTMLButtonElement>(null);
  const addRow = () => onChange([...rows, { id: nextId(rows), name: '', kind: 'text', value: '' }]);
  const remove = (id: number) => {
    onChange(rows.filter((row) => row.id !== id));
    add.current?.focus();
  };
  return (
    <fieldset
      name={map.name}
      tabIndex={-1}
      aria-describedby={error ? errorId : undefined}
      className="grid min-w-0 gap-2.5"
    >
      <legend className="mb-1.5 text-sm font-medium">{label}</legend>
      {rows.length > 0 && (
        <ul className="grid gap-3 sm:gap-2">
          {rows.map((row) => (
            <Row
              key={row.id}
              map={map}
              row={row}
              isNew={row.name === '' && row.value === ''}
              onChange={(changed) => onChange(rows.map((other) => (other.id === row.id ? changed : other)))}
              onRemove={() => remove(row.id)}
            />
          ))}
        </ul>
      )}
      {error && (
        <p id={errorId} className="text-sm text-bad">
          {error}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button ref={add} size="sm" onClick={addRow}>
          <Plus aria-hidden />
          Add {map.noun}
        </Button>
        {rows.length === 0 && <p className="text-sm text-muted">{hint}</p>}
      </div>
    </fieldset>
  );
};
