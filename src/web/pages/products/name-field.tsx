import { MAX_PRODUCT_NAME_LENGTH } from '../../../shared/rules/terms.ts';
import { TextField } from '../../ui/form.tsx';

export const NameField = ({ value }: { value?: string | null }) => (
  <TextField
    label="Name"
    name="name"
    autoComplete="off"
    maxLength={MAX_PRODUCT_NAME_LENGTH}
    placeholder="Orrery Studio"
    defaultValue={value ?? ''}
    hint="For your own lists. Applications don’t receive it."
  />
);
