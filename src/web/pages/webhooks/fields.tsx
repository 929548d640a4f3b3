import { MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH } from '../../../shared/rules/webhooks.ts';
import { TextField } from '../../ui/form.tsx';

export const UrlField = ({ value }: { value?: string }) => (
  <TextField
    label="URL"
    name="url"
    type="url"
    defaultValue={value}
    placeholder="https://example.com/hooks/latchkey"
    hint="A public HTTPS URL that accepts POST requests."
    autoComplete="off"
    spellCheck={false}
    maxLength={MAX_URL_LENGTH}
  />
);

export const DescriptionField = ({ value }: { value?: string | null }) => (
  <TextField
    label="Description"
    name="description"
    defaultValue={value ?? ''}
    placeholder="What this webhook is for"
    autoComplete="off"
    maxLength={MAX_DESCRIPTION_LENGTH}
  />
);
