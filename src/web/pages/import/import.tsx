import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorMessage } from '../../data/error.ts';
import { openSource, type SourceChoice } from '../../lib/import-source.ts';
import { Card } from '../../ui/card.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { FilePicker } from './file-picker.tsx';
import { ImportSteps } from './steps.tsx';

let files = 0;

const Services = () => (
  <p className="text-sm text-muted">
    Files from Keygen, Gumroad, Lemon Squeezy, Polar, Cryptlex, LicenseSpring, and Paddle are recognized, as
    are Latchkey exports. For any other file, you say what its columns are. License keys stay the same:{' '}
    <a className="underline hover:text-ink" href="/docs/moving-from">
      how to move from another service
    </a>
    .
  </p>
);

export const ImportPage = () => {
  const [chosen, setChosen] = useState<{ id: number; file: File } | null>(null);
  const [choice, setChoice] = useState<SourceChoice>({});
  const [isStarted, setStarted] = useState(false);
  const source = useQuery({
    queryKey: ['import', 'source', chosen?.id, choice],
    queryFn: () => (chosen ? openSource(chosen.file, choice) : null),
    enabled: chosen !== null,
    structuralSharing: false,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const choose = (file: File) => {
    setChoice({});
    setChosen({ id: files++, file });
  };
  const another = () => {
    setStarted(false);
    setChosen(null);
  };
  return (
    <Page
      title="Import licenses"
      hint="Bring in licenses from another system. You see what would happen before anything changes."
      above={<UpLink to="/licenses" name="Licenses" />}
    >
      {!isStarted && (
        <Card className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
          <FilePicker file={chosen?.file ?? null} onChoose={choose} />
          {source.isError && (
            <p role="alert" className="text-sm text-bad">
              {errorMessage(source.error)}
            </p>
          )}
          <Services />
        </Card>
      )}
      {chosen && source.data && (
        <ImportSteps
          key={`${chosen.id} ${JSON.stringify(choice)}`}
          id={chosen.id}
          source={source.data}
          choice={choice}
          onChoose={setChoice}
          isStarted={isStarted}
          onStart={() => setStarted(true)}
          onAnother={another}
        />
      )}
    </Page>
  );
};
