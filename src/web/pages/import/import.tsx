import { useState } from 'react';
import { Card } from '../../ui/card.tsx';
import { Choice, SelectField } from '../../ui/form.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { FilePicker } from './file-picker.tsx';
import { type ChosenFile, Preview } from './preview.tsx';

type OnConflict = 'fail' | 'skip' | 'update';

const CONFLICTS: { value: OnConflict; label: string }[] = [
  { value: 'fail', label: 'Report the line as failed' },
  { value: 'skip', label: 'Keep the license as it is' },
  { value: 'update', label: 'Update the license' },
];

const Columns = () => (
  <p className="text-sm text-muted">
    A CSV file has a header with the names of the fields, such as{' '}
    <code className="break-all text-ink">license_key,product,customer_email,expires_at,metadata.seats</code>.
    An NDJSON file has a license as JSON in each line. The export of an account can be imported as it is, and
    also brings its products and activations.
  </p>
);

export const ImportPage = () => {
  const [file, setFile] = useState<ChosenFile | null>(null);
  const [onConflict, setOnConflict] = useState<OnConflict>('fail');
  const [hasEvents, setHasEvents] = useState(false);
  return (
    <Page
      title="Import licenses"
      hint="Bring licenses from another system. You see what would happen before anything changes."
      above={<UpLink to="/licenses" name="Licenses" />}
    >
      <Card className="grid grid-cols-[minmax(0,1fr)] gap-5 p-5">
        <FilePicker file={file?.file ?? null} onChoose={setFile} />
        <Columns />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label="If a license with the same key exists"
            name="on_conflict"
            value={onConflict}
            onChange={({ currentTarget: { value } }) =>
              setOnConflict(CONFLICTS.find((choice) => choice.value === value)?.value ?? 'fail')
            }
          >
            {CONFLICTS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectField>
          <div className="content-center">
            <Choice
              label="Send events"
              hint="Webhooks get license.created for each new license."
              checked={hasEvents}
              onChange={({ currentTarget }) => setHasEvents(currentTarget.checked)}
            />
          </div>
        </div>
      </Card>
      {file && (
        <Preview
          key={`${file.id} ${onConflict}`}
          chosen={file}
          onConflict={onConflict}
          hasEvents={hasEvents}
        />
      )}
    </Page>
  );
};
