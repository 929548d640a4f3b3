import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { isoDate } from '../../../shared/rules/dates.ts';
import { readAccountExport } from '../../data/export.ts';
import { downloadFile } from '../../lib/download.ts';
import { plural } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { FormError } from '../../ui/notice.tsx';
import { useNow } from '../../ui/time.tsx';
import { SettingsFrame } from './frame.tsx';

export const ExportSettings = () => {
  const today = isoDate(useNow());
  const [lines, setLines] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => readAccountExport(setLines),
    onSuccess: (file) => downloadFile(`latchkey-${today}.ndjson`, file),
    retry: false,
  });
  return (
    <SettingsFrame section="Export">
      <Card>
        <CardHeader title="Export" hint="Everything in your account, in one file." />
        <div className="grid gap-4 px-5 pb-5">
          <p className="max-w-2xl text-muted">
            The file has a line of JSON for each product, license, activation, API key, webhook, and payment,
            for each day of usage, and for each history entry. It has no secrets: no API keys, no signing
            secrets, and no passwords. Its last line has the type <code className="text-ink">end</code>: a
            file without that line was cut off.
          </p>
          <p className="max-w-2xl text-muted">
            An account on this or another service can import the file as it is.
          </p>
          <FormError error={error} />
          <div>
            <Button variant="solid" isBusy={isPending} onClick={() => mutate()}>
              <Download aria-hidden />
              {isPending && lines > 0 ? plural(lines, 'line') : 'Download export'}
            </Button>
          </div>
        </div>
      </Card>
    </SettingsFrame>
  );
};
