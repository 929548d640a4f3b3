import { capitalize } from '../../lib/format.ts';
import { SelectField, TextField } from '../../ui/form.tsx';
import { LEASE_UNITS, splitLease } from './lease.ts';

/** A time in a unit that people use. `readLease` reads it as seconds. */
export const LeaseField = ({
  label,
  name,
  seconds,
  hint,
  placeholder,
}: {
  label: string;
  name: string;
  seconds: number | null;
  hint?: string;
  placeholder?: string;
}) => {
  const { amount, unit } = seconds === null ? { amount: '', unit: 'hours' } : splitLease(seconds);
  return (
    <div className="relative">
      <TextField
        label={label}
        name={name}
        inputMode="numeric"
        autoComplete="off"
        maxLength={9}
        placeholder={placeholder}
        defaultValue={amount}
        hint={hint}
        className="nums max-w-[calc(100%-8.5rem)]"
      />
      {/* Beside the number, so that its hint has the width of both. */}
      <div className="absolute top-0 right-0 w-32">
        <SelectField label="Unit" name={`${name}.unit`} defaultValue={unit}>
          {Object.keys(LEASE_UNITS).map((name) => (
            <option key={name} value={name}>
              {capitalize(name)}
            </option>
          ))}
        </SelectField>
      </div>
    </div>
  );
};
