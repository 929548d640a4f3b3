import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { MAX_OFFLINE_DAYS } from '../../../shared/rules/terms.ts';
import { issueOfflineFile } from '../../data/license-mutations.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { formatExact } from '../../lib/format.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { readWhole } from '../products/terms.ts';

interface OfflineFile {
  token: string;
  expires_at: string;
}

const FileForm = ({
  license,
  onIssued,
  onClose,
}: {
  license: LicenseBody;
  onIssued: (file: OfflineFile) => void;
  onClose: () => void;
}) => {
  const issue = useMutation({ ...issueOfflineFile(license.id), onSuccess: onIssued });
  const send = (values: Record<string, string>) => {
    const fingerprint = values['fingerprint']?.trim();
    issue.mutate({
      ...(fingerprint && { fingerprint }),
      days: readWhole(values, 'days', 1, MAX_OFFLINE_DAYS),
    });
  };
  return (
    <Form write={issue} onSend={send}>
      <TextField
        label="Fingerprint"
        name="fingerprint"
        autoComplete="off"
        spellCheck={false}
        maxLength={256}
        hint="The customer’s application shows it. The file works on this machine only. Required if the license’s seats are limited."
        className="font-mono"
      />
      <TextField
        label="Days"
        name="days"
        inputMode="numeric"
        autoComplete="off"
        maxLength={4}
        hint="How long the file is valid, never past the license’s end. Leave empty to use the days offline of the license’s terms."
        className="nums"
      />
      <FormActions onCancel={onClose} isBusy={issue.isPending}>
        Create file
      </FormActions>
    </Form>
  );
};

/** A token consists of characters that need no escaping in a URL. */
const Issued = ({
  license,
  file,
  onClose,
}: {
  license: LicenseBody;
  file: OfflineFile;
  onClose: () => void;
}) => (
  <div className="grid gap-4">
    <p className="text-muted">
      Valid until {formatExact(file.expires_at)}. The file can’t be revoked: it holds the machine’s seat until
      then.
    </p>
    <DialogActions>
      <Button onClick={onClose}>Done</Button>
      <a
        href={`data:application/jwt,${file.token}`}
        download={`${license.license_key}.jwt`}
        className={buttonClass({ variant: 'solid' })}
      >
        <Download aria-hidden />
        Download file
      </a>
    </DialogActions>
  </div>
);

/** Issues a file with which the application runs on a machine without a network. */
export const OfflineFile = ({
  license,
  isOpen,
  onClose,
}: {
  license: LicenseBody;
  isOpen: boolean;
  onClose: () => void;
}) => {
  const [file, setFile] = useState<OfflineFile | null>(null);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      onClosed={() => setFile(null)}
      title={file ? 'Offline file created' : 'Create offline file'}
      hint={!file && 'For a machine without a network. The machine takes a seat until the file expires.'}
    >
      {file ? (
        <Issued license={license} file={file} onClose={onClose} />
      ) : (
        <FileForm license={license} onIssued={setFile} onClose={onClose} />
      )}
    </Dialog>
  );
};
