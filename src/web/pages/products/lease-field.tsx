import { SelectField, TextField } from '../../ui/form.tsx';
import { LEASE_UNITS, splitLease } from './lease.ts';

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

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
    <div className="grid grid-cols-[minmax(0,1fr)_8rem] gap-2">
      <TextField
        label={label}
        name={name}
        inputMode="numeric"
        autoComplete="off"
        maxLength={9}
        placeholder={placeholder}
        defaultValue={amount}
        hint={hint}
        className="nums"
      />
      <SelectField label="Unit" name={`${name}.unit`} defaultValue={unit}>
        {Object.keys(LEASE_UNITS).map((name) => (
          <option key={name} value={name}>
            {capitalize(name)}
          </option>
        ))}
      </SelectField>
    </div>
  );
};
