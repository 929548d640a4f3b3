import { TextField } from '../../ui/form.tsx';

export const UrlField = ({ value }: { value?: string }) => (
  <TextField
    label="URL"
    name="url"
    type="url"
    defaultValue={value}
    placeholder="https://example.com/hooks/latchkey"
    hint="A public HTTPS URL that accepts POST requests"
    autoComplete="off"
    spellCheck={false}
    maxLength={2_048}
  />
);

export const DescriptionField = ({ value }: { value?: string | null }) => (
  <TextField
    label="Description"
    name="description"
    defaultValue={value ?? ''}
    placeholder="What this webhook is for"
    autoComplete="off"
    maxLength={200}
  />
);
