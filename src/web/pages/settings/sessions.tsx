import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describeUserAgent } from '../../../shared/rules/user-agent.ts';
import { endOtherSessions, endSession } from '../../data/access-mutations.ts';
import { type SessionBody, sessionsQuery } from '../../data/settings-queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { showError, showToast } from '../../ui/toast.tsx';
import { SettingsFrame } from './frame.tsx';

const HEAD = (
  <>
    <Th>Browser</Th>
    <Th className="max-md:hidden">IP address</Th>
    <Th className="max-sm:hidden">Last seen</Th>
    <Th className="max-md:hidden">Signed in</Th>
    <Th>
      <span className="sr-only">Actions</span>
    </Th>
  </>
);

const SessionRow = ({ session }: { session: SessionBody }) => {
  const end = useMutation({
    ...endSession,
    onSuccess: () => showToast('Session ended'),
    onError: showError,
  });
  const device = describeUserAgent(session.user_agent);
  const lastSeen = <Time at={session.last_seen_at} />;
  const ip = session.ip ?? 'Unknown';
  return (
    <Tr>
      <Td>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium">{device}</span>
          {session.current && <Badge tone="good">This session</Badge>}
        </span>
        <span className="block text-xs break-all text-muted md:hidden">{ip}</span>
        <span className="block text-xs text-muted sm:hidden">{lastSeen}</span>
      </Td>
      <Td className="break-all max-md:hidden">{ip}</Td>
      <Td className="max-sm:hidden">{lastSeen}</Td>
      <Td className="max-md:hidden">
        <Time at={session.created_at} />
      </Td>
      <Td className="w-20 text-right">
        {!session.current && (
          <Button
            size="sm"
            aria-label={`End the session of ${device}`}
            isBusy={end.isPending}
            onClick={() => end.mutate(session.id)}
          >
            End
          </Button>
        )}
      </Td>
    </Tr>
  );
};

export const SessionSettings = () => {
  const { data, error, refetch } = useQuery(sessionsQuery);
  const [isEnding, setEnding] = useState(false);
  const hasOthers = data?.data.some(({ current }) => !current) ?? false;
  return (
    <SettingsFrame section="Sessions">
      <Card>
        <CardHeader
          title="Sessions"
          hint="The browsers and programs that are signed in to your account."
          actions={
            <Button size="sm" disabled={!hasOthers} onClick={() => setEnding(true)}>
              End all others
            </Button>
          }
        />
        {error && !data ? (
          <LoadError error={error} onRetry={() => void refetch()} />
        ) : (
          <Table label="Sessions" head={HEAD}>
            {data ? (
              data.data.map((session) => <SessionRow key={session.id} session={session} />)
            ) : (
              <SkeletonRows rows={2} columns={5} />
            )}
          </Table>
        )}
      </Card>
      <Confirm
        isOpen={isEnding}
        onClose={() => setEnding(false)}
        title="End all other sessions?"
        action="End sessions"
        write={endOtherSessions}
        onDone={() => showToast('Other sessions ended')}
      >
        <p>Everywhere else, you have to sign in again. This browser stays signed in.</p>
      </Confirm>
    </SettingsFrame>
  );
};
