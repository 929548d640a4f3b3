import { Download } from 'lucide-react';
import { downloadText } from '../../lib/download.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { useHold } from '../../ui/hold.ts';

const FILE_NAME = 'latchkey-recovery-codes.txt';

/** The recovery codes, which are shown only once. */
export const RecoveryCodes = ({ codes, onDone }: { codes: string[]; onDone: () => void }) => {
  useHold(true);
  const text = `${codes.join('\n')}\n`;
  return (
    <div className="grid gap-4">
      <p className="text-muted">
        Each code signs you in once if you don’t have your authenticator app. Keep them where you keep your
        passwords: they aren’t shown again.
      </p>
      <ul
        aria-label="Recovery codes"
        data-secret
        className="grid grid-cols-2 gap-x-4 gap-y-1 rounded-lg border border-line bg-sunken p-3"
      >
        {codes.map((code) => (
          <li key={code}>
            <code className="text-sm">{code}</code>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={text}>Copy codes</CopyButton>
        <Button size="sm" onClick={() => downloadText(FILE_NAME, 'text/plain', text)}>
          <Download aria-hidden />
          Download codes
        </Button>
      </div>
      <DialogActions>
        <Button variant="solid" onClick={onDone}>
          I have saved the codes
        </Button>
      </DialogActions>
    </div>
  );
};
