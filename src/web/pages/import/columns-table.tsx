import { ChevronDown } from 'lucide-react';
import {
  type ColumnMap,
  isAddedColumn,
  isShared,
  missingColumns,
  type Target,
  TARGETS,
} from '../../../shared/rules/import/columns.ts';
import { flatten } from '../../../shared/rules/import/json.ts';
import type { Survey } from '../../../shared/rules/import/survey.ts';
import { labelOf } from '../../../shared/rules/license-fields.ts';
import { Button } from '../../ui/button.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';

const LABELS: Partial<Record<Target, string>> = { created_at: 'Created', expires_at: 'Expires' };
const EXAMPLES = 3;

const toTarget = (value: string): Target | null => TARGETS.find((target) => target === value) ?? null;

const examplesOf = ({ sample }: Survey, column: string): string[] => {
  const values = sample.map(({ fields }) => (fields ? flatten(fields)[column] : undefined));
  return [...new Set(values.filter((value) => value !== undefined && value !== ''))].slice(
    0,
    EXAMPLES,
  ) as string[];
};

const HEAD = (
  <>
    <Th className="md:w-1/4">Column</Th>
    <Th>Becomes</Th>
    <Th className="w-1/2 max-md:hidden">First rows</Th>
  </>
);

/** Says what each column becomes. A field that takes one column only leaves the column that had it before. */
export const ColumnsTable = ({
  survey,
  columns,
  onChange,
}: {
  survey: Survey;
  columns: ColumnMap;
  onChange: (columns: ColumnMap) => void;
}) => {
  const choose = (column: string, target: Target | null) => {
    const others = Object.entries(columns).map(([name, had]) => {
      const isTaken = had === target && target !== null && !isShared(target);
      return [name, isTaken ? null : had] as const;
    });
    onChange({ ...Object.fromEntries(others), [column]: target });
  };
  const left = survey.columns.filter((name) => !columns[name] && !isAddedColumn(name));
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-5 py-3">
        <p className="text-sm text-muted">Check what the columns become. These are guesses.</p>
        {left.length > 0 && (
          <Button
            size="sm"
            onClick={() =>
              onChange({ ...columns, ...Object.fromEntries(left.map((name) => [name, 'metadata'])) })
            }
          >
            Keep the rest as metadata
          </Button>
        )}
      </div>
      {missingColumns(columns).map((text) => (
        <p key={text} className="px-5 pb-3 text-sm text-warn">
          {text}
        </p>
      ))}
      <Table label="Columns" head={HEAD}>
        {survey.columns.map((column) => {
          const examples = examplesOf(survey, column);
          return (
            <Tr key={column}>
              <Td className="max-w-56 font-medium break-words">
                {column}
                <span className="block truncate font-normal text-muted md:hidden">{examples[0]}</span>
              </Td>
              <Td className="w-48">
                <span className="relative block">
                  <select
                    aria-label={`What ${column} becomes`}
                    value={columns[column] ?? ''}
                    onChange={({ currentTarget }) => choose(column, toTarget(currentTarget.value))}
                    className="h-8 w-full min-w-36 appearance-none rounded-lg border border-line-strong bg-surface pr-8 pl-2.5 max-sm:text-lg"
                  >
                    <option value="">Leave out</option>
                    {TARGETS.map((target) => (
                      <option key={target} value={target}>
                        {LABELS[target] ?? labelOf(target)}
                      </option>
                    ))}
                  </select>
                  <ChevronDown
                    aria-hidden
                    className="pointer-events-none absolute top-2 right-2.5 size-4 text-muted"
                  />
                </span>
              </Td>
              <Td className="max-w-0 truncate text-muted max-md:hidden">{examples.join(' · ')}</Td>
            </Tr>
          );
        })}
      </Table>
    </>
  );
};
