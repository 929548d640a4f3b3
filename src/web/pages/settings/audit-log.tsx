import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { AUDIT_ACTIONS, type AuditAction } from '../../../shared/rules/audit.ts';
import { describeUserAgent } from '../../../shared/rules/user-agent.ts';
import {
  type AuditEntry,
  type AuditFilter,
  type SessionBody,
  auditLogQuery,
  sessionsQuery,
} from '../../data/settings-queries.ts';
import { capitalize } from '../../lib/format.ts';
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
import { SettingsFrame } from './frame.tsx';

/** Actions whose names don't follow from a noun and a verb. */
const TEXTS: Partial<Record<AuditAction, string>> = {
  register: 'Account created',
  login: 'Signed in',
  logout: 'Signed out',
  'password.reset': 'Password reset',
  'email.verify': 'Email address verified',
  'email.request_change': 'Email address change requested',
  'email.change': 'Email address changed',
  'email.restore': 'Email address taken back',
  'two_factor.enable': 'Two-factor authentication turned on',
  'two_factor.disable': 'Two-factor authentication turned off',
  'recovery_code.replace': 'Recovery codes replaced',
  'two_factor.fail': 'Wrong codes at sign-in',
  'session.fail': 'Wrong passwords or codes inside the account',
  'two_factor.request_reset': 'Two-factor authentication reset requested',
  'two_factor.reset': 'Two-factor authentication reset',
  'account.move': 'Home region changed',
  'account.erase': 'Account deletion requested',
  'account.backup': 'Account backed up',
  'account.list_orphans': 'Orphaned rows listed',
  'account.drop_orphans': 'Orphaned rows dropped',
  'account.move_database': 'Moved to another database',
  'license.rotate_key': 'License key replaced',
  'license.import': 'Licenses imported',
  'license.reveal_key': 'License key shown',
  'activation.release': 'Seat released',
  'customer.sign_in': 'Signed in to the portal',
  'customer.sign_out': 'Signed out of the portal',
  'customer.send_keys': 'License keys sent',
  'customer.request_email_change': 'Customer’s address change requested',
  'customer.change_email': 'Customer’s address changed',
  'portal.open': 'Portal link created',
  'product.put': 'Product saved',
  'product.update_mail': 'Email to buyers saved',
  'product.test_mail': 'Email to buyers tested',
  'webhook.rotate_secret': 'Webhook secret rotated',
  'webhook.test': 'Test event sent',
  'webhook.resend': 'Delivery resent',
  'webhook.replay': 'Missed events sent',
  'offer.put': 'Offer saved',
  'purchase.retry': 'Purchase retried',
  'purchase.resend_mail': 'Email to the buyer sent again',
  'subscription.cancel': 'Subscription canceled',
  'service.backup': 'Service backed up',
};

/** Describes an action in words, for example as "API key created". */
const actionText = (action: AuditAction): string => {
  const [noun = '', verb = ''] = action.split('.');
  const words = noun === 'api_key' ? 'API key' : noun.replaceAll('_', ' ');
  return TEXTS[action] ?? capitalize(`${words} ${verb}${verb.endsWith('e') ? 'd' : 'ed'}`);
};

const ACTORS: Record<Exclude<AuditEntry['actor']['kind'], 'session'>, string> = {
  api_key: 'API key',
  customer: 'Customer, in the portal',
  operator: 'Operator of the service',
  store: 'A store',
  system: 'The service',
};

/** Tells sessions apart, so that somebody else's stands out. `sessions` are those that haven't ended, once they are known. */
const actorText = ({ kind, id }: AuditEntry['actor'], sessions: SessionBody[] | undefined): string => {
  if (kind !== 'session') return ACTORS[kind];
  if (id === null) return 'Not signed in';
  const session = sessions?.find((one) => one.id === id);
  if (!session) return sessions ? 'A session that has ended' : 'A session';
  return session.current ? 'You, in this browser' : describeUserAgent(session.user_agent);
};

/** Describes an entry's details, for example as "scope: full". */
const detailsText = (details: AuditEntry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value ?? 'none')}`)
    .join('; ');

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
        ) : entries?.length === 0 ? (
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
              {entries ? (
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
