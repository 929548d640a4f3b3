import { Download } from 'lucide-react';
import { isoDate } from '../../../shared/rules/dates.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { useNow } from '../../ui/time.tsx';
import { SettingsFrame } from './frame.tsx';

export const ExportSettings = () => {
  const today = isoDate(useNow());
  return (
    <SettingsFrame section="Export">
      <Card>
        <CardHeader title="Export" hint="Everything of your account in one file." />
        <div className="grid gap-4 px-5 pb-5">
          <p className="max-w-2xl text-muted">
            The file has a line of JSON for each product, license, activation, API key, webhook and payment,
            for each day of usage, and for each entry of the histories. It has no secrets: no API keys, no
            signing secrets and no passwords. Its last line has the type <code className="text-ink">end</code>
            : a file without that line was cut off.
          </p>
          <p className="max-w-2xl text-muted">
            An account of this or of another service can import the file as it is.
          </p>
          <div>
            <a
              href="/api/export"
              download={`latchkey-${today}.ndjson`}
              className={buttonClass({ variant: 'solid' })}
            >
              <Download aria-hidden />
              Download export
            </a>
          </div>
        </div>
      </Card>
    </SettingsFrame>
  );
};
