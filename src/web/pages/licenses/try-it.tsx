import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { CALL_NAMES, type CallName } from '../../../shared/rules/verdict.ts';
import {
  type ApplicationCall,
  type CallResponse as Response,
  curlCommand,
  statusText,
} from '../../data/application-call.ts';
import { callAsApplication } from '../../data/license-mutations.ts';
import { type ApiKey, apiKeysQuery, fetchFullApiKey, isActiveKey } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { SelectField, TextField } from '../../ui/form.tsx';
import { FormError, LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { Time, useNow } from '../../ui/time.tsx';

const toneOf = (status: number): Tone => {
  if (status < 300) return 'good';
  return status === 429 ? 'warn' : 'bad';
};

const Heading = ({ children }: { children: ReactNode }) => (
  <h3 className="text-sm font-medium">{children}</h3>
);

const CallResponse = ({ response }: { response: Response }) => (
  <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Heading>Response</Heading>
      <span role="status" className="flex items-center gap-2 text-sm">
        <Badge tone={toneOf(response.status)}>{statusText(response.status)}</Badge>
        <span className="nums text-muted">{formatCount(response.ms)} ms</span>
      </span>
      <span className="ml-auto text-xs text-muted">
        <Time at={response.sentAt} />
      </span>
    </div>
    <Code text={response.body} what="response" />
    {response.headers.length > 0 && (
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 pt-1 text-xs">
        {response.headers.map(({ name, value }) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="break-all">
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
    )}
  </div>
);

const nameOf = ({ name, masked_key }: ApiKey) => (name === null ? masked_key : `${name} · ${masked_key}`);

const EXPLANATIONS: Record<CallName, string> = {
  verify: 'Is the license valid on this machine? Counts as one API call.',
  activate: 'Verifies the license, and takes a seat for this machine. Counts as one API call.',
  heartbeat: 'Renews the lease of this machine’s seat. Isn’t counted.',
  deactivate: 'Releases this machine’s seat. Isn’t counted.',
};

/** A machine that doesn't exist. */
const makeUpFingerprint = () => `try-it-${crypto.randomUUID().slice(0, 8)}`;

const Ready = ({ apiKeys, licenseKey }: { apiKeys: [ApiKey, ...ApiKey[]]; licenseKey: string }) => {
  const [chosenId, choose] = useState<string | null>(null);
  const [call, setCall] = useState<ApplicationCall['call']>('verify');
  const [fingerprint, setFingerprint] = useState(makeUpFingerprint);
  const apiKey = apiKeys.find(({ id }) => id === chosenId) ?? apiKeys[0];
  const run = useMutation(callAsApplication);
  const sent = { call, licenseKey, fingerprint: fingerprint.trim() };
  const commandWith = (key: string) => curlCommand(location.origin, key, sent);
  /** The response to another request is no longer shown. */
  const change = (apply: () => void) => {
    apply();
    run.reset();
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 px-5 pb-5">
      <div className="grid grid-cols-[minmax(0,1fr)] justify-items-start gap-1.5">
        <Segments
          label="Call"
          value={call}
          choices={CALL_NAMES.map((value) => ({ value, label: value }))}
          onChoose={(value) => change(() => setCall(value))}
        />
        <p className="text-sm text-muted">{EXPLANATIONS[call]}</p>
      </div>
      <TextField
        label="Fingerprint"
        name="fingerprint"
        autoComplete="off"
        spellCheck={false}
        maxLength={256}
        value={fingerprint}
        onChange={({ currentTarget: { value } }) => change(() => setFingerprint(value))}
        hint="Made up, to stand for a machine. Leave empty to send none."
        className="font-mono"
      />
      <div className="grid grid-cols-[minmax(0,1fr)] items-end gap-2 sm:grid-cols-[minmax(0,1fr)_auto]">
        <SelectField
          label="API key"
          name="api_key"
          value={apiKey.id}
          onChange={({ currentTarget: { value } }) => change(() => choose(value))}
        >
          {apiKeys.map((option) => (
            <option key={option.id} value={option.id}>
              {nameOf(option)}
            </option>
          ))}
        </SelectField>
        <Button
          isBusy={run.isPending}
          onClick={() => run.mutate({ ...sent, apiKey: () => fetchFullApiKey(apiKey.id) })}
        >
          Send {call}
        </Button>
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <h3 className="text-sm font-medium">Request</h3>
        <Code
          text={commandWith(apiKey.masked_key)}
          what="request with the full API key"
          copyText={async () => commandWith(await fetchFullApiKey(apiKey.id))}
        />
      </div>
      <FormError error={run.error} />
      {run.data && <CallResponse response={run.data} />}
    </div>
  );
};

const NoKey = ({ hasExpired }: { hasExpired: boolean }) => (
  <div className="grid justify-items-start gap-3 px-5 pb-5">
    <p className="text-sm text-muted">
      {hasExpired
        ? 'All your API keys have expired. Verifying a license needs an active API key.'
        : 'Verifying a license needs an API key, and you have none yet.'}
    </p>
    <ButtonLink to="/keys" search={{ create: true }} size="sm">
      Create API key
    </ButtonLink>
  </div>
);

const Content = ({ licenseKey }: { licenseKey: string }) => {
  const { data, error, refetch } = useInfiniteQuery(apiKeysQuery);
  const nowMs = useNow();
  if (error && !data) return <LoadError error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <div className="grid gap-4 px-5 pb-5">
        <Skeleton className="h-9" />
        <Skeleton className="h-9" />
        <Skeleton className="h-48" />
      </div>
    );
  }
  const all = data.pages.flatMap((page) => page.data);
  const [newest, ...others] = all.filter((apiKey) => isActiveKey(apiKey, nowMs));
  return newest ? (
    <Ready apiKeys={[newest, ...others]} licenseKey={licenseKey} />
  ) : (
    <NoKey hasExpired={all.length > 0} />
  );
};

/** Makes an application's calls for the license and shows the responses. */
export const TryIt = ({ licenseKey }: { licenseKey: string }) => (
  <Card aria-label="Try it">
    <CardHeader title="Try it" hint="Sends the request that your application would send." />
    <Content licenseKey={licenseKey} />
  </Card>
);
