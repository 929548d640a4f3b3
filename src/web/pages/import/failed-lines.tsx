import { Download } from 'lucide-react';
import type { ImportSummary } from '../../data/import.ts';
import { downloadText } from '../../lib/download.ts';
import { plural } from '../../lib/format.ts';
import { toFile } from '../../lib/import-parts.ts';
import { Button } from '../../ui/button.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';
import type { ChosenFile } from './preview.tsx';

/** The rest is in the file. */
const MAX_SHOWN = 20;

const HEAD = (
  <>
    <Th>Line</Th>
    <Th>Problem</Th>
    <Th className="max-md:hidden">Content</Th>
  </>
);

/** The lines that fail, and a file with them that can be corrected and imported. */
export const FailedLines = ({
  summary: { failed, header },
  chosen: { file, format },
}: {
  summary: ImportSummary;
  chosen: ChosenFile;
}) => {
  if (failed.length === 0) return null;
  const download = () => downloadText(`failed-${file.name}`, `text/${format}`, toFile(header, failed));
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-5 py-3">
        <p className="text-sm text-muted">
          {failed.length > MAX_SHOWN
            ? `The first ${MAX_SHOWN} of ${plural(failed.length, 'failed line')}.`
            : `${plural(failed.length, 'line')} can’t be imported.`}
        </p>
        <Button size="sm" onClick={download}>
          <Download aria-hidden />
          Download failed lines
        </Button>
      </div>
      <Table label="Failed lines" head={HEAD}>
        {failed.slice(0, MAX_SHOWN).map(({ number, text, reason }) => (
          <Tr key={number}>
            <Td className="nums w-16 align-top">{number}</Td>
            <Td className="align-top break-words">{reason}</Td>
            <Td className="max-w-0 align-top max-md:hidden">
              <code className="block truncate text-xs">{text}</code>
            </Td>
          </Tr>
        ))}
      </Table>
    </>
  );
};
