import type { ReactNode } from 'react';
import { labelOf, TEXT_FIELDS } from '../../../shared/rules/license-fields.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { Card, CardHeader, Fact, Facts } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { Time } from '../../ui/time.tsx';
import { ExpiryDate } from './expiry-date.tsx';

const None = () => <span className="text-muted">None</span>;

/** A value with a copy button that doesn't make the row taller. */
const Copyable = ({ text, what, children }: { text: string; what: string; children: ReactNode }) => (
  <span className="flex items-center gap-1">
    <span className="min-w-0 wrap-anywhere">{children}</span>
    <span className="-my-1.5">
      <CopyIcon text={text} what={what} />
    </span>
  </span>
);

export const LicenseFacts = ({ license }: { license: LicenseBody }) => (
  <Card>
    <CardHeader title="Details" />
    <div className="border-t border-line pb-1">
      <Facts>
        {TEXT_FIELDS.map((field) => (
          <Fact key={field} name={labelOf(field)}>
            {license[field] ?? <None />}
          </Fact>
        ))}
        <Fact name="Email">
          <Copyable text={license.customer_email} what="email address">
            {license.customer_email}
          </Copyable>
        </Fact>
        <Fact name="Product">{license.product ?? <None />}</Fact>
        <Fact name="Expires">
          <ExpiryDate license={license} />
        </Fact>
        <Fact name="Created">
          <Time at={license.created_at} />
        </Fact>
        <Fact name="Updated">
          <Time at={license.updated_at} />
        </Fact>
        <Fact name="ID">
          <Copyable text={license.id} what="ID">
            <code className="text-xs">{license.id}</code>
          </Copyable>
        </Fact>
      </Facts>
    </div>
  </Card>
);
