import { useState } from 'react';
import { ask, portal, slug } from '../data/portal.ts';
import { Button, Card, Field, Form, Notice, useAction } from './parts.tsx';

interface DoorProps {
  onOther: () => void;
}

const ByEmail = ({ onOther }: DoorProps) => {
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { run, isBusy, failure } = useAction(async (email: string) => {
    await ask(portal['sign-in'].$post({ param: { slug }, json: { email } }));
    setSentTo(email);
  });
  if (sentTo)
    return (
      <Card title="Check your inbox">
        <p className="text-muted">
          If there is a license for <strong className="font-medium text-ink">{sentTo}</strong>, an email with
          a link is on its way. The link works for 30 minutes. An address gets at most three of these emails
          an hour: if you ask again, their links work until the hour is over.
        </p>
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => setSentTo(null)}>Use another address</Button>
        </div>
      </Card>
    );
  return (
    <Card title="See your licenses">
      <Form onSend={({ email = '' }) => run(email)}>
        <Field
          label="Email address"
          name="email"
          type="email"
          autoComplete="email"
          hint="The one that you bought with. You’ll get a link, and need no password."
        />
        {failure}
        <div className="flex flex-wrap gap-2">
          <Button variant="solid" type="submit" isBusy={isBusy}>
            Send me a link
          </Button>
          <Button variant="quiet" onClick={onOther}>
            Use a license key
          </Button>
        </div>
      </Form>
    </Card>
  );
};

const ByKey = ({ onOther, onDone }: DoorProps & { onDone: () => void }) => {
  const [licenseKey, setLicenseKey] = useState<string | null>(null);
  const sending = useAction(async (license_key: string) => {
    await ask(portal['sign-in'].$post({ param: { slug }, json: { license_key } }));
    setLicenseKey(license_key);
  });
  const entering = useAction(async (code: string) => {
    await ask(portal.session.$post({ param: { slug }, json: { license_key: licenseKey ?? '', code } }));
    onDone();
  });
  if (licenseKey !== null)
    return (
      <Card title="Enter the code">
        <Form onSend={({ code = '' }) => entering.run(code)}>
          <Field
            key="code"
            label="Code"
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            autoFocus
            hint="Six digits, in the email sent to this license’s address."
          />
          {entering.failure}
          <div className="flex flex-wrap gap-2">
            <Button variant="solid" type="submit" isBusy={entering.isBusy}>
              Sign in
            </Button>
            <Button variant="quiet" onClick={() => setLicenseKey(null)}>
              Use another key
            </Button>
          </div>
        </Form>
      </Card>
    );
  return (
    <Card title="See your licenses">
      <Form onSend={({ license_key = '' }) => sending.run(license_key)}>
        <Field
          key="key"
          label="License key"
          name="license_key"
          autoComplete="off"
          spellCheck={false}
          hint="A code is sent to the license’s email address."
        />
        {sending.failure}
        <div className="flex flex-wrap gap-2">
          <Button variant="solid" type="submit" isBusy={sending.isBusy}>
            Send a code
          </Button>
          <Button variant="quiet" onClick={onOther}>
            Use an email address
          </Button>
        </div>
      </Form>
    </Card>
  );
};

export const SignIn = ({ notice, onDone }: { notice: string | null; onDone: () => void }) => {
  const [door, setDoor] = useState<'email' | 'key'>('email');
  return (
    <>
      {notice && <Notice tone="good">{notice}</Notice>}
      {door === 'email' ? (
        <ByEmail onOther={() => setDoor('key')} />
      ) : (
        <ByKey onOther={() => setDoor('email')} onDone={onDone} />
      )}
    </>
  );
};
