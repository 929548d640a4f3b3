import { useState } from 'react';
import { describeUserAgent } from '../../shared/rules/user-agent.ts';
import { ask, portal, type PortalPage, type SessionEntry, slug } from '../data/portal.ts';
import { Button, Card, dateTime, Field, Form, Notice, Swap, useAction } from './parts.tsx';

const ChangeEmail = () => {
  const [isOpen, setOpen] = useState(false);
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { run, isBusy, failure } = useAction(async (email: string) => {
    await ask(portal['change-email'].$post({ param: { slug }, json: { email } }));
    setSentTo(email);
  });
  return (
    <Swap shows={sentTo ?? isOpen}>
      {sentTo !== null ? (
        <Notice tone="good">
          Your current address and {sentTo} each get a link. Your licenses move once you open both, within a
          day.
        </Notice>
      ) : isOpen ? (
        <Form onSend={({ email = '' }) => run(email)}>
          <Field
            label="New email address"
            name="email"
            type="email"
            autoComplete="email"
            autoFocus
            hint="You confirm it from both your current and new address."
          />
          {failure}
          <div className="flex flex-wrap gap-2">
            <Button variant="solid" type="submit" isBusy={isBusy}>
              Send both links
            </Button>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
          </div>
        </Form>
      ) : (
        <Button onClick={() => setOpen(true)}>Change my email address</Button>
      )}
    </Swap>
  );
};

/** Reads all pages. The release before has only one, and says nothing of others. */
const readSessions = async (cursor?: string): Promise<SessionEntry[]> => {
  const query = { limit: undefined, cursor };
  const { data, next_cursor: next } = await ask(portal.sessions.$get({ param: { slug }, query }));
  return next ? [...data, ...(await readSessions(next))] : data;
};

const Sessions = ({ onSignedOut }: { onSignedOut: (because: string) => void }) => {
  const [sessions, setSessions] = useState<SessionEntry[] | null>(null);
  const loading = useAction(async () => {
    setSessions(await readSessions());
  });
  const ending = useAction(async () => {
    await ask(portal.sessions.$delete({ param: { slug } }));
    onSignedOut('All sessions have ended.');
  });
  return (
    <Swap shows={sessions} className="grid justify-items-start gap-3">
      {sessions ? (
        <>
          <ul className="divide-y divide-line">
            {sessions.map((session) => (
              <li key={session.id} className="py-2">
                <p>
                  {describeUserAgent(session.user_agent)}
                  {session.current && ' (this browser)'}
                </p>
                <p className="text-sm text-muted">
                  Since {dateTime(session.created_at)}
                  {session.ip && `, last from ${session.ip}`}
                </p>
              </li>
            ))}
          </ul>
          {ending.failure}
          <Button variant="danger" isBusy={ending.isBusy} onClick={ending.run}>
            Sign out everywhere
          </Button>
        </>
      ) : (
        <>
          <Button isBusy={loading.isBusy} onClick={loading.run}>
            Where am I signed in?
          </Button>
          {loading.failure}
        </>
      )}
    </Swap>
  );
};

/** Also what a customer reads whose session has ended elsewhere. */
export const SIGNED_OUT = 'You are signed out.';

/** What concerns the customer, and no single license. */
export const Account = ({
  page,
  onSignedOut,
}: {
  page: PortalPage;
  onSignedOut: (because?: string | null) => void;
}) => {
  const [isSent, setSent] = useState(false);
  const sending = useAction(async () => {
    await ask(portal['resend-keys'].$post({ param: { slug } }));
    setSent(true);
  });
  const signOut = useAction(async () => {
    await ask(portal.session.$delete({ param: { slug } }));
    onSignedOut(SIGNED_OUT);
  });
  return (
    <Card title="You">
      <div className="grid justify-items-start gap-3">
        <Swap shows={isSent}>
          {isSent ? (
            <Notice tone="good">
              An email with your keys is on its way. You can get at most three an hour.
            </Notice>
          ) : (
            <Button isBusy={sending.isBusy} onClick={sending.run}>
              Email me my keys
            </Button>
          )}
        </Swap>
        {sending.failure}
        {page.allow.change_email && <ChangeEmail />}
        <Sessions onSignedOut={onSignedOut} />
        <Button isBusy={signOut.isBusy} onClick={signOut.run}>
          Sign out
        </Button>
        {signOut.failure}
      </div>
    </Card>
  );
};
