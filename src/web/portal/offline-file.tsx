import { useState } from 'react';
import { ask, type CustomersLicense, portal, slug } from '../data/portal.ts';
import { downloadText } from '../lib/download.ts';
import { Button, dateTime, Field, Form, Notice, useAction } from './parts.tsx';

/** A file for a machine that has no network. */
export const OfflineFile = ({ license }: { license: CustomersLicense }) => {
  const [file, setFile] = useState<{ token: string; expires_at: string } | null>(null);
  const { run, isBusy, failure } = useAction(async (request_code: string) => {
    const param = { slug, id: license.id };
    setFile(await ask(portal.licenses[':id'].token.$post({ param, json: { request_code } })));
  });
  if (file)
    return (
      <div className="grid gap-3">
        <Notice tone="good">
          Your file is valid until {dateTime(file.expires_at)}, and holds the seat until then.
        </Notice>
        <div className="flex flex-wrap gap-2">
          <Button variant="solid" onClick={() => downloadText('license.latchkey', 'text/plain', file.token)}>
            Download the file
          </Button>
          <Button onClick={() => setFile(null)}>Another machine</Button>
        </div>
      </div>
    );
  return (
    <Form onSend={({ request_code = '' }) => run(request_code)}>
      <Field
        label="Request code"
        name="request_code"
        autoComplete="off"
        spellCheck={false}
        hint={`What the application shows on the machine without a network. The file is valid for ${license.offline_days === 1 ? 'a day' : `${license.offline_days} days`}, and can’t be revoked.`}
      />
      {failure}
      <div>
        <Button variant="solid" type="submit" isBusy={isBusy}>
          Create the file
        </Button>
      </div>
    </Form>
  );
};
