import type { ImportCounts } from '../../data/import.ts';
import { Figure } from '../../ui/figure.tsx';

export const Counts = ({ counts }: { counts: ImportCounts }) => (
  <dl className="grid grid-cols-2 gap-4 px-5 pb-5 sm:grid-cols-5">
    <Figure name="Created" value={counts.created} />
    <Figure name="Updated" value={counts.updated} />
    <Figure name="Unchanged" value={counts.unchanged} />
    <Figure name="Skipped" value={counts.skipped} />
    <Figure name="Failed" value={counts.failed} isBad={counts.failed > 0} />
  </dl>
);
