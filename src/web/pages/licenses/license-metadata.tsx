import { useState } from 'react';
import type { LicenseBody } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader, Fact, Facts } from '../../ui/card.tsx';
import { EditLicense } from './edit-license.tsx';

/** Shows text as it is, and numbers and booleans as code. */
const Value = ({ value }: { value: LicenseBody['metadata'][string] }) => {
  if (typeof value === 'string') {
    return value === '' ? (
      <span className="text-muted">Empty</span>
    ) : (
      <span className="break-words">{value}</span>
    );
  }
  return <code className="text-xs">{`${value}`}</code>;
};

export const LicenseMetadata = ({ license }: { license: LicenseBody }) => {
  const [isEditing, setEditing] = useState(false);
  const entries = Object.entries(license.metadata);
  return (
    <Card>
      <CardHeader title="Metadata" />
      <div className="border-t border-line pb-1">
        {entries.length > 0 ? (
          <Facts>
            {entries.map(([name, value]) => (
              <Fact key={name} name={name}>
                <Value value={value} />
              </Fact>
            ))}
          </Facts>
        ) : (
          <p className="flex flex-wrap items-center justify-between gap-3 px-5 py-2.5 text-sm text-muted">
            None
            <Button size="sm" variant="quiet" onClick={() => setEditing(true)}>
              Add metadata
            </Button>
          </p>
        )}
      </div>
      <EditLicense license={license} isOpen={isEditing} onClose={() => setEditing(false)} />
    </Card>
  );
};
