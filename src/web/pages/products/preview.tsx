import { useState } from 'react';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { useNow } from '../../ui/time.tsx';
import { firstAnswer, fullAnswer, tokenText } from './example-answer.ts';
import type { TermsDraft } from './terms.ts';

const Example = ({ code, terms }: { code: string; terms: TermsDraft }) => {
  const nowMs = useNow();
  const [wantsFull, setWantsFull] = useState(false);
  const full = fullAnswer(code, terms, nowMs);
  const answer = (wantsFull && full) || firstAnswer(code, terms, nowMs);
  return (
    <>
      {full && (
        <Segments
          label="Example"
          value={wantsFull ? 'full' : 'first'}
          choices={[
            { value: 'first', label: 'First machine' },
            { value: 'full', label: 'All seats taken' },
          ]}
          onChoose={(choice) => setWantsFull(choice === 'full')}
        />
      )}
      <div className="w-full min-w-0">
        <Code text={JSON.stringify(answer, null, 2)} what="example answer" />
      </div>
      {answer.valid && <p className="text-sm text-muted">{tokenText(terms, nowMs)}</p>}
    </>
  );
};

/** Shows what the terms lead to, while they are edited. `terms` is null while a field is incomplete. */
export const Preview = ({ code, terms }: { code: string; terms: TermsDraft | null }) => (
  <Card aria-label="What an application will be told">
    <CardHeader
      title="What an application will be told"
      hint="The answer to activate, for a license that is created now."
    />
    <div className="grid grid-cols-[minmax(0,1fr)] justify-items-start gap-3 px-5 pb-5">
      {terms ? (
        <Example code={code} terms={terms} />
      ) : (
        <p className="text-sm text-muted">Complete the terms to see an example.</p>
      )}
    </div>
  </Card>
);
