import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { verifyLicense } from '../../data/license-mutations.ts';
import { type ApiKey, fetchFullApiKey, apiKeysQuery, isActiveKey } from '../../data/queries.ts';
import { verifyCommand } from '../../data/verify-call.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { SelectField } from '../../ui/form.tsx';
import { FormError, LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useNow } from '../../ui/time.tsx';
import { VerifyResponse } from './verify-response.tsx';

const nameOf = ({ name, masked_key }: ApiKey) => (name === null ? masked_key : `${name} · ${masked_key}`);

const Ready = ({ apiKeys, licenseKey }: { apiKeys: [ApiKey, ...ApiKey[]]; licenseKey: string }) => {
  const [chosenId, choose] = useState<string | null>(null);
  const apiKey = apiKeys.find(({ id }) => id === chosenId) ?? apiKeys[0];
  const verify = useMutation(verifyLicense);
  const commandWith = (key: string) => verifyCommand(location.origin, key, licenseKey);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 px-5 pb-5">
      <div className="grid grid-cols-[minmax(0,1fr)] items-end gap-2 sm:grid-cols-[minmax(0,1fr)_auto]">
        <SelectField
          label="API key"
          name="api_key"
          value={apiKey.id}
          onChange={(event) => {
            choose(event.currentTarget.value);
            verify.reset();
          }}
        >
          {apiKeys.map((option) => (
            <option key={option.id} value={option.id}>
              {nameOf(option)}
            </option>
          ))}
        </SelectField>
        <Button
          isBusy={verify.isPending}
          onClick={() => verify.mutate({ apiKey: () => fetchFullApiKey(apiKey.id), licenseKey })}
        >
          Send verify
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
      <FormError error={verify.error} />
      {verify.data && <VerifyResponse response={verify.data} />}
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
        <Skeleton className="h-28" />
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

/** Sends a verify call for the license and shows the response. */
export const TryVerify = ({ licenseKey }: { licenseKey: string }) => (
  <Card>
    <CardHeader
      title="Try verify"
      hint="Sends the request that your application would send. Counts as one API call."
    />
    <Content licenseKey={licenseKey} />
  </Card>
);
