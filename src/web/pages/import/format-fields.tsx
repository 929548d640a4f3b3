import { type Delimiter, DELIMITERS } from '../../../shared/rules/csv.ts';
import type { DateOrder } from '../../../shared/rules/import/dates.ts';
import { ENCODINGS } from '../../../shared/rules/import/encodings.ts';
import { type Reading, readingOf } from '../../../shared/rules/import/reading.ts';
import type { SourceId } from '../../../shared/rules/import/survey.ts';
import { VENDORS } from '../../../shared/rules/import/vendors.ts';
import type { ChosenFile, SourceChoice } from '../../lib/import-source.ts';
import { SelectField } from '../../ui/form.tsx';

const NAMES: Record<SourceId, string> = {
  columns: 'Another table: you say what its columns are',
  latchkey: 'Latchkey’s own format',
  ...(Object.fromEntries(
    Object.entries(VENDORS).map(([id, { name, file }]) => [id, `${name}: ${file}`]),
  ) as Record<keyof typeof VENDORS, string>),
};
const SIGNS: Record<Delimiter, string> = { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab' };

const isOf = <Key extends string>(names: Record<Key, string>, value: string): value is Key =>
  Object.hasOwn(names, value);

const Choices = ({
  label,
  name,
  hint,
  value,
  names,
  onChoose,
}: {
  label: string;
  name: string;
  hint?: string;
  value: string;
  names: Record<string, string>;
  onChoose: (value: string) => void;
}) => (
  <SelectField
    label={label}
    name={name}
    hint={hint}
    value={value}
    onChange={({ currentTarget }) => onChoose(currentTarget.value)}
  >
    {Object.entries(names).map(([key, text]) => (
      <option key={key} value={key}>
        {text}
      </option>
    ))}
  </SelectField>
);

/** Whose file it is, and what the file leaves open. */
export const FormatFields = ({
  source: { survey, shape, encoding, hasDoubt },
  choice,
  reading,
  asksOrder,
  onChooseSource,
  onChoose,
}: {
  source: ChosenFile;
  choice: SourceChoice;
  reading: Reading;
  asksOrder: boolean;
  onChooseSource: (choice: SourceChoice) => void;
  onChoose: (reading: Reading) => void;
}) => {
  const recognized = survey.source === 'columns' ? undefined : 'Recognized by its columns.';
  const toOrder = (value: string): DateOrder | null => (value === 'dmy' || value === 'mdy' ? value : null);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Choices
        label="Format"
        name="source"
        {...(recognized !== undefined && reading.source === survey.source && { hint: recognized })}
        value={reading.source}
        names={NAMES}
        onChoose={(value) => isOf(NAMES, value) && onChoose(readingOf(survey, value))}
      />
      {asksOrder && (
        <Choices
          label="Dates"
          name="order"
          hint="The file has dates that can be read in two ways."
          value={reading.order ?? ''}
          names={{
            ...(reading.order === null && { '': 'Choose what 03/04/2027 means' }),
            dmy: '3 April 2027: the day comes first',
            mdy: 'March 4, 2027: the month comes first',
          }}
          onChoose={(value) => onChoose({ ...reading, order: toOrder(value) })}
        />
      )}
      {shape.kind === 'table' && hasDoubt && (
        <Choices
          label="Separator"
          name="delimiter"
          hint="Several characters could separate the cells of this file."
          value={shape.delimiter}
          names={SIGNS}
          onChoose={(value) => {
            const delimiter = DELIMITERS.find((sign) => sign === value);
            if (delimiter) onChooseSource({ ...choice, delimiter });
          }}
        />
      )}
      {isOf(ENCODINGS, encoding) && (
        <Choices
          label="Encoding"
          name="encoding"
          hint="The file isn’t UTF-8. Check that names with accents are right."
          value={encoding}
          names={ENCODINGS}
          onChoose={(value) => isOf(ENCODINGS, value) && onChooseSource({ ...choice, encoding: value })}
        />
      )}
    </div>
  );
};
