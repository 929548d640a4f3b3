import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { findProducts, openProductCount } from '../../../shared/rules/import/products.ts';
import {
  type RowOutcome,
  orderIn,
  outcomeOf,
  type Reading,
  readingOf,
} from '../../../shared/rules/import/reading.ts';
import type { SourceRow } from '../../../shared/rules/import/rows.ts';
import type { ImportJob } from '../../data/import.ts';
import { allProductsQuery } from '../../data/queries.ts';
import { plural } from '../../lib/format.ts';
import type { ChosenFile, SourceChoice } from '../../lib/import-source.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Choice, SelectField } from '../../ui/form.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { ColumnsTable } from './columns-table.tsx';
import { FormatFields } from './format-fields.tsx';
import { type ImportChoices, keepChoices, readChoices } from './kept.ts';
import { Preview } from './preview.tsx';
import { AS_IT_IS, NO_PRODUCT, ProductMap } from './product-map.tsx';

const CONFLICTS: Record<ImportJob['onConflict'], string> = {
  fail: 'Report the row as failed',
  skip: 'Keep the license as it is',
  update: 'Update the license',
};
const conflictOf = (value: string): ImportJob['onConflict'] =>
  value === 'skip' || value === 'update' ? value : 'fail';

/** Finds which products the rows name, and which of the account's products these are. */
const useFileProducts = (id: number, source: ChosenFile, reading: Reading, isReady: boolean) => {
  const { data: products, error } = useQuery(allProductsQuery);
  const counts = useQuery({
    queryKey: ['import', 'products', id, reading],
    queryFn: async () => {
      const count = openProductCount();
      for await (const row of source.rows()) {
        const outcome = outcomeOf(row, reading);
        if ('line' in outcome) count.add(outcome.line);
      }
      return count.result();
    },
    enabled: isReady,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const found = products && counts.data ? findProducts(counts.data, products, true) : undefined;
  return { found, products: products ?? [], error: error ?? counts.error };
};

const withProduct = (outcome: RowOutcome, codes: Map<string, string>): RowOutcome => {
  if (!('line' in outcome)) return outcome;
  const code = codes.get(String(outcome.line['product']));
  if (code === undefined) return outcome;
  const { product: _, ...line } = outcome.line;
  return { line: code === NO_PRODUCT ? line : { ...line, product: code } };
};

/** The steps after a file was chosen: how it is read, what would happen, and the import. */
export const ImportSteps = ({
  id,
  source,
  choice,
  onChoose,
  isStarted,
  onStart,
  onAnother,
}: {
  id: number;
  source: ChosenFile;
  choice: SourceChoice;
  onChoose: (choice: SourceChoice) => void;
  /** Whether the file is being imported, so that nothing can be chosen any more. */
  isStarted: boolean;
  onStart: () => void;
  onAnother: () => void;
}) => {
  const { survey } = source;
  const [choices, setChoices] = useState(
    (): ImportChoices =>
      readChoices(survey) ?? {
        reading: readingOf(survey),
        codes: {},
        allowsLabels: false,
        onConflict: 'fail',
      },
  );
  const change = (changes: Partial<ImportChoices>) => {
    const changed = { ...choices, ...changes };
    setChoices(changed);
    keepChoices(survey, changed);
  };
  const { reading: chosen, codes, allowsLabels, onConflict } = choices;
  const [hasEvents, setHasEvents] = useState(false);

  const order = orderIn(survey, chosen);
  const reading = order === 'unclear' ? chosen : { ...chosen, order };
  const hasColumns =
    chosen.source !== 'columns' || Object.values(chosen.columns).some((target) => target !== null);
  const isReady = survey.rows > 0 && hasColumns && (order !== 'unclear' || chosen.order !== null);
  const { found, products, error } = useFileProducts(id, source, reading, isReady);

  const mapped = new Map<string, string>();
  for (const { product, code } of found ?? []) {
    const own = codes[product] ?? code;
    if (own !== null && own !== AS_IT_IS && own !== product) mapped.set(product, own);
  }
  const decided = [reading, [...mapped], allowsLabels, onConflict];
  const job: ImportJob = {
    source,
    reading,
    outcomeOf: (row: SourceRow) => withProduct(outcomeOf(row, reading), mapped),
    onConflict,
    allowsLabels,
    hasEvents,
  };
  return (
    <>
      <Card aria-label="How the file is read" hidden={isStarted}>
        <CardHeader
          title="How the file is read"
          hint={`${plural(survey.rows, 'row')}. Check the first of them.`}
        />
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5 px-5 pb-5">
          <FormatFields
            source={source}
            choice={choice}
            reading={chosen}
            asksOrder={order === 'unclear'}
            onChooseSource={onChoose}
            onChoose={(next) => change({ reading: next })}
          />
        </div>
        {chosen.source === 'columns' && (
          <ColumnsTable
            survey={survey}
            columns={chosen.columns}
            onChange={(columns) => change({ reading: { ...chosen, columns } })}
          />
        )}
        {found && products.length > 0 && (
          <ProductMap
            found={found}
            products={products}
            codes={codes}
            onChange={(product, code) => change({ codes: { ...codes, [product]: code } })}
            allowsLabels={allowsLabels}
            onAllowLabels={(allows) => change({ allowsLabels: allows })}
          />
        )}
        <div className="grid gap-4 border-t border-line p-5 sm:grid-cols-2">
          <SelectField
            label="If a license with the same key exists"
            name="on_conflict"
            value={onConflict}
            onChange={({ currentTarget }) => change({ onConflict: conflictOf(currentTarget.value) })}
          >
            {Object.entries(CONFLICTS).map(([value, label]) => (
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
      {error && (
        <Card>
          <LoadError error={error} onRetry={() => location.reload()} />
        </Card>
      )}
      {isReady && found && (
        <Preview
          key={JSON.stringify([id, decided])}
          id={id}
          choices={decided}
          job={job}
          onStart={onStart}
          onAnother={onAnother}
        />
      )}
    </>
  );
};
