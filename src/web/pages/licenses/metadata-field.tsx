import { ValuesField } from '../../ui/values-field.tsx';
import type { ValueRow } from '../../ui/values.ts';

export const MetadataField = (props: { rows: ValueRow[]; onChange: (rows: ValueRow[]) => void }) => (
  <ValuesField
    {...props}
    name="metadata"
    label="Metadata"
    noun="metadata"
    example="seats"
    hint="Any data you want to store with the license."
  />
);
