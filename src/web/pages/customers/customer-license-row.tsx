import { Link } from '@tanstack/react-router';
import type { LicenseBody } from '../../data/queries.ts';
import { LicenseBadge } from '../../ui/badge.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { ROW_LINK, Td, Th, Tr } from '../../ui/table.tsx';
import { ExpiryDate } from '../licenses/expiry-date.tsx';

const MIDDLE = 'max-md:hidden';

export const CUSTOMER_LICENSE_HEAD = (
  <>
    <Th>License key</Th>
    <Th>Status</Th>
    <Th className={MIDDLE}>Product</Th>
    <Th className={MIDDLE}>Expires</Th>
  </>
);

export const CustomerLicenseRow = ({ license }: { license: LicenseBody }) => (
  <Tr className="relative">
    <Td className="w-2/5 max-w-0 max-md:w-full">
      <span className="flex items-center gap-1">
        <Link
          to="/licenses/$id"
          params={{ id: license.id }}
          className={cx('min-w-0 truncate max-md:whitespace-normal', ROW_LINK)}
        >
          <code className="text-xs font-medium">{license.license_key}</code>
        </Link>
        <span className="relative z-10">
          <CopyIcon text={license.license_key} what="license key" />
        </span>
      </span>
      {license.product !== null && (
        <span className="block truncate text-xs text-muted md:hidden">{license.product}</span>
      )}
    </Td>
    <Td>
      <LicenseBadge status={license.status} />
    </Td>
    <Td className={MIDDLE}>{license.product ?? <span className="text-muted">None</span>}</Td>
    <Td className={MIDDLE}>
      <ExpiryDate license={license} isStacked />
    </Td>
  </Tr>
);
