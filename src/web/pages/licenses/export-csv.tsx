import { Download } from 'lucide-react';
import { isoDate } from '../../../shared/rules/dates.ts';
import { CSV_COLUMNS, toCsvCells } from '../../../shared/rules/license-csv.ts';
import type { LicenseFilter } from '../../data/license-filter.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { downloadFile, toCsv } from '../../lib/download.ts';
import { formatCount } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { useMatching } from './use-matching.ts';

const HEADER = toCsv([[...CSV_COLUMNS]]);
const toText = (licenses: LicenseBody[]) => toCsv(licenses.map(toCsvCells));

const offerCsv = (texts: BlobPart[]) =>
  downloadFile(`licenses-${isoDate(Date.now())}.csv`, new Blob(texts, { type: 'text/csv' }));

export const downloadCsv = (licenses: LicenseBody[]) => offerCsv([HEADER, toText(licenses)]);

/** Saves all licenses that match as a CSV file, whose parts the browser keeps on the disk. */
export const ExportCsv = ({ filter }: { filter: LicenseFilter }) => {
  const { start, stop, isPending, count } = useMatching(filter, () => {
    const parts = [new Blob([HEADER])];
    return {
      onPage: (licenses) => parts.push(new Blob([toText(licenses)])) > 0,
      onDone: () => offerCsv(parts),
    };
  });
  return isPending ? (
    <Button size="sm" onClick={stop}>
      <span className="nums" role="status">
        {formatCount(count)} read
      </span>
      Stop
    </Button>
  ) : (
    <Button size="sm" onClick={start}>
      <Download aria-hidden />
      Export CSV
    </Button>
  );
};
