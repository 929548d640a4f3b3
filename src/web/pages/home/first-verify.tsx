import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { Eye, Play } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { callAsApplication } from '../../data/license-mutations.ts';
import { createApiKey } from '../../data/mutations.ts';
import { fetchFullApiKey, apiKeysQuery, isActiveKey, onboardingQuery } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { useNow } from '../../ui/time.tsx';
import { showError } from '../../ui/toast.tsx';
import { useOnce } from '../../ui/use-once.ts';
import { ApplicationCode } from '../products/in-application.tsx';
import { CreateSample } from './create-sample.tsx';
import { FirstMachine } from './first-machine.tsx';

const LANGUAGES = [
  { value: 'application', label: 'Application' },
  { value: 'curl', label: 'curl' },
  { value: 'javascript', label: 'JavaScript' },
  { value: 'python', label: 'Python' },
] as const;
type Language = (typeof LANGUAGES)[number]['value'];

const BROWSER = { fingerprint: 'my-first-machine' };

/** The newest API key that can ship with an application: null if there is none, and undefined until that is known. */
const useUsableKey = () => {
  const nowMs = useNow();
  const { data } = useInfiniteQuery(apiKeysQuery);
  return (
    data && (data.pages[0]?.data.find((key) => key.scope === 'verify' && isActiveKey(key, nowMs)) ?? null)
  );
};

export const FirstVerify = ({
  completed,
  apiKey,
  onRevealed,
  onShown,
}: {
  completed: number;
  apiKey: string | null;
  onRevealed: (apiKey: string) => void;
  /** Keeps the step open once it is done, so that the machine appears, wherever it was activated. */
  onShown: () => void;
}) => {
  const shown = useEffectEvent(onShown);
  useEffect(() => shown(), []);
  const [language, setLanguage] = useState<Language>('application');
  const usable = useUsableKey();
  const isKnown = apiKey !== null || usable !== undefined;
  const { data } = useQuery(onboardingQuery(completed));
  const create = useOnce(createApiKey);

  const readFullKey = async () => {
    if (apiKey) return apiKey;
    const fullKey = usable
      ? await fetchFullApiKey(usable.id)
      : (await create.mutateAsync({ name: 'In my application', scope: 'verify' })).api_key;
    onRevealed(fullKey);
    return fullKey;
  };
  const reveal = useMutation({ mutationFn: readFullKey, onError: showError });
  const run = useMutation({ ...callAsApplication, onError: showError });
  const snippet = language === 'application' ? undefined : data?.snippets[language];

  return (
    <>
      <p>
        Activate a machine, as your application would: with the client package, or with a call in a terminal
        or here. This step is done once an answer says that the license is valid. Applications have a key of
        scope verify, and ask each customer for the license key.
      </p>
      {data?.license_id === null && (
        <div className="grid justify-items-start gap-2">
          <p>Without a sample license, these lines use the key of a license that doesn’t exist.</p>
          <CreateSample />
        </div>
      )}
      <div className="flex w-full flex-wrap items-center justify-between gap-2">
        <Segments label="Language" value={language} choices={[...LANGUAGES]} onChoose={setLanguage} />
        {!apiKey && (
          <Button size="sm" isBusy={reveal.isPending} disabled={!isKnown} onClick={() => reveal.mutate()}>
            <Eye aria-hidden />
            {usable === null ? 'Create a key and fill it in' : 'Fill in my key'}
          </Button>
        )}
      </div>
      <div className="grid w-full grid-cols-[minmax(0,1fr)] gap-3 text-ink">
        {data && language === 'application' ? (
          <ApplicationCode licenseKey={data.license_key} apiKey={apiKey} />
        ) : data && snippet ? (
          <Code
            text={apiKey === null ? snippet : snippet.replace(data.key_placeholder, apiKey)}
            what={`${language} snippet`}
          />
        ) : (
          <Skeleton className="h-28" />
        )}
      </div>
      <Button
        size="sm"
        variant="solid"
        isBusy={run.isPending}
        disabled={!data || !isKnown}
        onClick={() => {
          if (!data) return;
          run.mutate({ call: 'activate', apiKey: readFullKey, licenseKey: data.license_key, ...BROWSER });
        }}
      >
        <Play aria-hidden />
        Run it here
      </Button>
      {data?.license_id && <FirstMachine licenseId={data.license_id} />}
      <div aria-live="polite" className="w-full text-ink">
        {run.data && <Code text={`HTTP ${run.data.status}\n${run.data.body}`} what="response" />}
      </div>
    </>
  );
};
