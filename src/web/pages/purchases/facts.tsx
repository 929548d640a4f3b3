import type { PurchaseDetails } from '../../data/store-queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Time } from '../../ui/time.tsx';
import { factText } from './fact-text.ts';

/** What the store has said of a purchase, the newest first. */
export const PurchaseFacts = ({ facts }: Pick<PurchaseDetails, 'facts'>) => (
  <Card aria-label="What the store has said">
    <CardHeader
      title="What the store has said"
      hint="Each fact counts once, in whatever order and however often it comes."
    />
    <ol className="divide-y divide-line border-t border-line text-sm">
      {facts.toReversed().map((fact) => (
        <li
          key={`${fact.kind} ${fact.about} ${fact.taken_at}`}
          className="flex flex-wrap gap-x-4 px-5 py-2.5"
        >
          <span className="min-w-0 flex-1">
            <span className="block">{factText(fact, formatDate)}</span>
            <code className="block truncate text-xs text-muted">{fact.about}</code>
          </span>
          <span className="text-muted">
            <Time at={fact.at ?? fact.taken_at} />
          </span>
        </li>
      ))}
    </ol>
  </Card>
);
