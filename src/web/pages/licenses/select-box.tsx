/** A checkbox that selects a row of the list, or all rows. It is larger than it looks. */
export const SelectBox = ({
  id,
  label,
  isChecked,
  isMixed = false,
  disabled = false,
  onChange,
}: {
  id?: string;
  label: string;
  isChecked: boolean;
  isMixed?: boolean;
  disabled?: boolean;
  onChange: (isChecked: boolean, isRange: boolean) => void;
}) => (
  <label className="relative z-10 -my-2 -mr-2 -ml-2.5 grid size-9 cursor-pointer place-items-center">
    <span className="sr-only">{label}</span>
    <input
      id={id}
      ref={(input) => {
        if (input) input.indeterminate = isMixed;
      }}
      type="checkbox"
      checked={isChecked}
      disabled={disabled}
      // A click with Shift would select the text between two rows.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onChange={({ currentTarget, nativeEvent }) =>
        onChange(currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
      }
      className="size-4 accent-ink"
    />
  </label>
);
