import type { ReactNode } from 'react';
import { formatCount } from '../../lib/format.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Time } from '../../ui/time.tsx';
import { type CallResponse as Response, statusText } from '../../data/application-call.ts';

const toneOf = (status: number): Tone => {
  if (status < 300) return 'good';
  return status === 429 ? 'warn' : 'bad';
};

const Heading = ({ children }: { children: ReactNode }) => (
  <h3 className="text-sm font-medium">{children}</h3>
);

export const CallResponse = ({ response }: { response: Response }) => (
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
