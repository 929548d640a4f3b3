import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { AUDIT_ACTIONS } from '../../../shared/rules/audit.ts';
import {
  type AuditEntry,
  type AuditFilter,
  auditLogQuery,
  sessionsQuery,
} from '../../data/settings-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { SelectField, TextField } from '../../ui/form.tsx';
import { MoreRows } from '../../ui/more.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useTypedText } from '../../ui/use-typed-text.ts';
import { LINK } from '../sign-in/frame.tsx';
import { actionText, actorText, detailsText } from './audit-text.ts';
import { SettingsFrame } from './frame.tsx';

const route = getRouteApi('/shell/settings/audit-log');

const HEAD = (
  <>
    <Th>What</Th>
    <Th className="max-sm:hidden">Who</Th>
    <Th className="max-md:hidden">Target</Th>
    <Th className="max-md:hidden">IP address</Th>
    <Th>When</Th>
  </>
);

const Target = ({ target }: Pick<AuditEntry, 'target'>) => {
  if (target === null) return null;
  const text = <code className="text-xs break-all">{target}</code>;
  if (target.startsWith('lic_')) {
    return (
      <Link to="/licenses/$id" params={{ id: target }} className={LINK}>
        {text}
      </Link>
    );
  }
  if (!target.startsWith('whe_')) return text;
  return (
    <Link to="/webhooks/$id" params={{ id: target }} className={LINK}>
      {text}
    </Link>
  );
};

const EntryRow = ({ entry, actor }: { entry: AuditEntry; actor: string }) => (
  <Tr>
    <Td>
      <span className="block font-medium">{actionText(entry.action)}</span>
      <span className="block text-xs break-words text-muted">{detailsText(entry.details)}</span>
      <span className="block text-xs text-muted sm:hidden">{actor}</span>
      <span className="block md:hidden">
        <Target target={entry.target} />
      </span>
    </Td>
    <Td className="max-sm:hidden">
      <span className="block">{actor}</span>
      {entry.actor.id !== null && <code className="block text-xs text-muted">{entry.actor.id}</code>}
    </Td>
    <Td className="max-md:hidden">
      <Target target={entry.target} />
    </Td>
    <Td className="break-all max-md:hidden">{entry.ip}</Td>
    <Td className="w-24">
      <Time at={entry.at} />
    </Td>
  </Tr>
);

type Change = (changed: AuditFilter) => Promise<void>;

/** Keeps what is typed of a date: the URL follows later, and would empty a field whose date isn't complete. */
const DayField = ({
  filter,
  name,
  onChange,
}: {
  filter: AuditFilter;
  name: 'from' | 'to';
  onChange: Change;
}) => {
  const { text, type } = useTypedText(filter[name] ?? '', (day) => onChange({ [name]: day || undefined }));
  return (
    <TextField
      label={name === 'from' ? 'From' : 'Through'}
      name={name}
      type="date"
      value={text}
      onChange={({ currentTarget: { value } }) => type(value)}
    />
  );
};

const Filters = ({ filter, onChange }: { filter: AuditFilter; onChange: Change }) => (
  <div className="grid gap-3 px-5 pb-4 sm:grid-cols-3">
    <SelectField
      label="Action"
      name="action"
      value={filter.action ?? ''}
      onChange={({ currentTarget: { value } }) =>
        void onChange({ action: AUDIT_ACTIONS.find((action) => action === value) })
      }
    >
      <option value="">All actions</option>
      {AUDIT_ACTIONS.map((action) => (
        <option key={action} value={action}>
          {actionText(action)}
        </option>
      ))}
    </SelectField>
    <DayField filter={filter} name="from" onChange={onChange} />
    <DayField filter={filter} name="to" onChange={onChange} />
  </div>
);

export const AuditLogSettings = () => {
  const { from, to, ...search } = route.useSearch();
  const filter = { action: AUDIT_ACTIONS.find((action) => action === search.action), from, to };
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({ ...auditLogQuery(filter), placeholderData: keepPreviousData });
  const { data: sessions } = useQuery(sessionsQuery);
  const entries = query.data?.pages.flatMap(({ data }) => data);
  const change = (changed: AuditFilter) =>
    navigate({ search: (before) => ({ ...before, ...changed }), replace: true, resetScroll: false });
  return (
    <SettingsFrame section="Audit log">
      <Card>
        <CardHeader
          title="Audit log"
          hint="What was changed in your account, and by whom. Kept for a year."
        />
        <Filters filter={filter} onChange={change} />
        {query.isError && !entries ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : entries?.length === 0 && !query.isPlaceholderData ? (
          <Empty
            icon={<ScrollText />}
            title="No entry matches"
            action={
              <Button
                size="sm"
                onClick={() => void change({ action: undefined, from: undefined, to: undefined })}
              >
                Show all entries
              </Button>
            }
          />
        ) : (
          <div
            aria-busy={query.isPlaceholderData}
            className={cx('transition-opacity', query.isPlaceholderData && 'opacity-60 delay-150')}
          >
            <Table label="Audit log" head={HEAD}>
              {entries && entries.length > 0 ? (
                entries.map((entry) => (
                  <EntryRow key={entry.id} entry={entry} actor={actorText(entry.actor, sessions?.data)} />
                ))
              ) : (
                <SkeletonRows columns={5} />
              )}
            </Table>
            <MoreRows query={query} />
          </div>
        )}
      </Card>
    </SettingsFrame>
  );
};
