import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { PLANS } from '../../../shared/rules/plans.ts';
import { createFirstProduct } from '../../data/license-mutations.ts';
import { createApiKey } from '../../data/mutations.ts';
import type { ProgressBody } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { showError } from '../../ui/toast.tsx';
import { useOnce } from '../../ui/use-once.ts';
import { ConnectStore } from './connect-store.tsx';
import { CreateSample, SAMPLE_PRODUCT } from './create-sample.tsx';
import { FirstVerify } from './first-verify.tsx';
import { StepRow } from './step-row.tsx';

const FirstKey = ({ onCreated }: { onCreated: (apiKey: string) => void }) => {
  const create = useOnce({
    ...createApiKey,
    onSuccess: ({ api_key }) => onCreated(api_key),
    onError: showError,
  });
  return (
    <>
      <p>
        Your application authenticates its calls with an API key. This one can only make an application’s
        calls, so it can ship inside one. You can copy, reveal, and delete it at any time.
      </p>
      <Button
        size="sm"
        variant="solid"
        isBusy={create.isPending}
        onClick={() => create.mutate({ name: 'In my application', scope: 'verify' })}
      >
        Create a key
      </Button>
    </>
  );
};

const SAMPLE = {
  code: SAMPLE_PRODUCT,
  json: { name: 'Sample', terms: { max_activations: 3, duration_days: 365 } },
};

const FirstProduct = () => {
  const create = useMutation({ ...createFirstProduct, onError: showError });
  return (
    <>
      <p>
        A product says what its licenses allow: on how many machines, until when, and how long offline. The
        sample has three seats and lasts a year.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="solid" isBusy={create.isPending} onClick={() => create.mutate(SAMPLE)}>
          Create a sample product
        </Button>
        <ButtonLink to="/products" search={{ create: true }} size="sm">
          Fill in the form
        </ButtonLink>
      </div>
    </>
  );
};

const FirstLicense = () => (
  <>
    <p>
      A license gives a customer a key, with the terms of its product. The sample is for you: the next step
      shows its key, and never a customer’s.
    </p>
    <div className="flex flex-wrap gap-2">
      <CreateSample />
      <ButtonLink to="/licenses" search={{ create: true }} size="sm">
        Fill in the form
      </ButtonLink>
    </div>
  </>
);

type Step = ProgressBody['steps'][number];

interface BodyProps {
  completed: number;
  apiKey: string | null;
  setApiKey: (key: string) => void;
  /** Keeps the step open once it is done, to show its result. */
  keepOpen: () => void;
}

/** The instructions and buttons of each step. */
const STEP_BODIES: Record<Step['id'], (props: BodyProps) => ReactNode> = {
  create_account: () => null,
  create_product: () => <FirstProduct />,
  create_api_key: ({ setApiKey }) => <FirstKey onCreated={setApiKey} />,
  create_license: () => <FirstLicense />,
  verify_license: ({ completed, apiKey, setApiKey, keepOpen }) => (
    <FirstVerify completed={completed} apiKey={apiKey} onRevealed={setApiKey} onShown={keepOpen} />
  ),
  add_webhook: () => (
    <>
      <p>Get a request for every license that is created or verified, as it happens.</p>
      <ButtonLink to="/webhooks" search={{ create: true }} variant="solid" size="sm">
        Add a webhook
      </ButtonLink>
    </>
  ),
  choose_plan: () => (
    <>
      <p>The free plan has {formatCount(PLANS.free.apiLimit)} calls a month. Upgrade when you need more.</p>
      <ButtonLink to="/billing" variant="solid" size="sm">
        Compare plans
      </ButtonLink>
    </>
  ),
};

/** The checklist of first steps. The API derives which steps are done from the account's data. */
export const FirstSteps = ({
  progress,
  lacksStore,
  isHidden,
  onHide,
}: {
  progress: ProgressBody;
  lacksStore: boolean;
  isHidden: boolean;
  onHide: (isHidden: boolean) => void;
}) => {
  const [apiKey, setApiKey] = useState<string | null>(null);
  const [chosen, setChosen] = useState<Step['id'] | 'connect_store' | null>(null);
  const { steps, completed, total } = progress;
  const next = steps.find(({ done }) => !done)?.id ?? null;
  const isAboutStore = lacksStore && chosen === 'connect_store';
  const chosenStep = steps.find(({ id, done }) => id === chosen && (!done || id === 'verify_license'));
  const open = isAboutStore ? null : (chosenStep?.id ?? next);

  if (isHidden) {
    return (
      <div className="-mt-2">
        <Button variant="quiet" size="sm" onClick={() => onHide(false)}>
          Show first steps ({completed} of {total} done)
        </Button>
      </div>
    );
  }

  return (
    <Card className="overflow-hidden">
      <div className="flex items-center gap-4 px-5 pt-4 pb-3">
        <div className="min-w-0 flex-1">
          <h2 className="text-base font-semibold">First steps</h2>
          <p aria-live="polite" className="text-sm text-muted">
            {completed} of {total} done
          </p>
        </div>
        <Button variant="quiet" size="sm" onClick={() => onHide(true)}>
          Hide
        </Button>
      </div>
      <ol className="divide-y divide-line border-t border-line">
        {steps.map(({ id, title, done }) => {
          const Body = STEP_BODIES[id];
          return (
            <StepRow
              key={id}
              title={title}
              isDone={done}
              isNext={id === next}
              isOpen={id === open}
              canOpen={!done || id === 'verify_license'}
              onOpen={() => setChosen(id)}
            >
              <Body
                completed={completed}
                apiKey={apiKey}
                setApiKey={setApiKey}
                keepOpen={() => setChosen(id)}
              />
            </StepRow>
          );
        })}
        {lacksStore && (
          <ConnectStore
            isOpen={isAboutStore}
            onOpen={() => setChosen('connect_store')}
            onDismissed={() => setChosen(null)}
          />
        )}
      </ol>
    </Card>
  );
};
