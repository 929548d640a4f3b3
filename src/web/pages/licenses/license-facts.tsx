import { Link } from '@tanstack/react-router';
import { labelOf, TEXT_FIELDS } from '../../../shared/rules/license-fields.ts';
import { isNobodys } from '../../../shared/rules/licenses.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { Card, CardHeader, Fact, Facts } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { ExpiryDate } from './expiry-date.tsx';

const None = () => <span className="text-muted">None</span>;

export const LicenseFacts = ({ license }: { license: LicenseBody }) => (
  <Card aria-label="Customer and product">
    <CardHeader
      title="Customer and product"
      actions={
        !isNobodys(license.customer_email) && (
          <Link
            to="/customers/$email"
            params={{ email: license.customer_email }}
            className="text-sm underline decoration-line-strong underline-offset-4 hover:decoration-ink"
          >
            Open customer
          </Link>
        )
      }
    />
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
      </Facts>
    </div>
  </Card>
);
