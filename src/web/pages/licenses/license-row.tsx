import { Link } from '@tanstack/react-router';
import type { LicenseBody, Product } from '../../data/queries.ts';
import { formatCount, formatDate } from '../../lib/format.ts';
import { LicenseBadge } from '../../ui/badge.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ROW_LINK, Td, Th, Tr } from '../../ui/table.tsx';
import { ExpiryDate, ShortExpiry } from './expiry-date.tsx';
import { termsOf } from './terms-text.ts';
import type { Selection } from './use-selection.ts';

/** A checkbox that selects a row of the list, or all rows. It is larger than it looks. */
const SelectBox = ({
  id,
  label,
  isChecked,
  isMixed = false,
  disabled = false,
  onChange,
}: {
  id?: string;
  label: string;
  isChecked: boolean;
  isMixed?: boolean;
  disabled?: boolean;
  onChange: (isChecked: boolean, isRange: boolean) => void;
}) => (
  <label className="relative z-10 -my-2 -mr-2 -ml-2.5 grid size-9 cursor-pointer place-items-center">
    <span className="sr-only">{label}</span>
    <input
      id={id}
      ref={(input) => {
        if (input) input.indeterminate = isMixed;
      }}
      type="checkbox"
      checked={isChecked}
      disabled={disabled}
      // A click with Shift would select the text between two rows.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onChange={({ currentTarget, nativeEvent }) =>
        onChange(currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
      }
      className="size-4 accent-ink"
    />
  </label>
);

const WIDE = 'max-xl:hidden';
const MIDDLE = 'max-md:hidden';
const LAST_IN_MIDDLE = cx(MIDDLE, 'max-xl:pr-5');
// On phones, the column of the key fills the whole row.
const FIRST = 'max-md:w-full max-md:max-w-0 max-md:pr-5';

const SELECT = 'w-8';

export const LicenseHead = ({ count, selection }: { count: number; selection: Selection }) => {
  const selected = selection.selected.length;
  return (
    <>
      <Th className={SELECT}>
        <SelectBox
          id="select-all"
          label="Select all licenses shown"
          isChecked={count > 0 && selected >= count}
          disabled={count === 0}
          isMixed={selected > 0 && selected < count}
          onChange={selection.chooseShown}
        />
      </Th>
      <Th>License key</Th>
      <Th className={MIDDLE}>Status</Th>
      <Th className={MIDDLE}>Customer</Th>
      <Th className={WIDE}>Product</Th>
      <Th className={cx('text-right', WIDE)}>Seats</Th>
      <Th className={MIDDLE}>Expires</Th>
      <Th className={WIDE}>Created</Th>
    </>
  );
};

/** A link that covers the whole row, so that clicks and middle clicks anywhere in the row open the license. */
const KeyLink = ({ license }: { license: LicenseBody }) => (
  <Link
    to="/licenses/$id"
    params={{ id: license.id }}
    className={cx('min-w-0 scroll-my-20 truncate  md:max-w-54', ROW_LINK)}
  >
    <code className="text-xs font-medium">{license.license_key}</code>
  </Link>
);

/** The limit of a license's seats, of its own or from its product. */
const Seats = ({ license, product }: { license: LicenseBody; product: Product | null }) => {
  const { maxActivations } = termsOf(license, product);
  return maxActivations === null ? <span className="text-muted">No limit</span> : formatCount(maxActivations);
};

const Customer = ({ license }: { license: LicenseBody }) =>
  license.customer_name === null ? (
    <span className="block truncate">{license.customer_email}</span>
  ) : (
    <>
      <span className="block truncate leading-4.5">{license.customer_name}</span>
      <span className="block truncate text-xs leading-3.5 text-muted">{license.customer_email}</span>
    </>
  );

export const LicenseRow = ({
  license,
  product,
  selection,
}: {
  license: LicenseBody;
  /** Null if the license's product is a mere label, and undefined until that is known. */
  product: Product | null | undefined;
  selection: Selection;
}) => (
  <Tr className={cx('relative', selection.isSelected(license.id) && 'bg-brass-soft/40')}>
    <Td className={SELECT}>
      <SelectBox
        label={`Select ${license.license_key}`}
        isChecked={selection.isSelected(license.id)}
        onChange={(isSelected, isRange) => selection.choose(license.id, isSelected, isRange)}
      />
    </Td>
    <Td className={FIRST}>
      <span className="flex items-center gap-1 max-md:justify-between">
        <KeyLink license={license} />
        <span className="relative z-10 max-md:-mr-2">
          <CopyIcon text={license.license_key} what="license key" />
        </span>
      </span>
      <span className="flex min-w-0 items-center gap-2 pb-1 text-muted md:hidden">
        <LicenseBadge status={license.status} />
        <span className="min-w-0 flex-1 truncate">{license.customer_name ?? license.customer_email}</span>
        <span className="text-xs whitespace-nowrap">
          <ShortExpiry license={license} />
        </span>
      </span>
    </Td>
    <Td className={MIDDLE}>
      <LicenseBadge status={license.status} />
    </Td>
    <Td className={cx('w-[26%] max-w-0', MIDDLE)}>
      <Customer license={license} />
    </Td>
    <Td className={cx('w-[16%] max-w-0', WIDE)}>
      <span className="block truncate">{license.product ?? <span className="text-muted">None</span>}</span>
    </Td>
    <Td className={cx('nums text-right whitespace-nowrap', WIDE)}>
      {product !== undefined && <Seats license={license} product={product} />}
    </Td>
    <Td className={LAST_IN_MIDDLE}>
      <ExpiryDate license={license} isStacked />
    </Td>
    <Td className={cx('whitespace-nowrap', WIDE)}>
      <time dateTime={license.created_at} className="nums">
        {formatDate(license.created_at)}
      </time>
    </Td>
  </Tr>
);

const BARS = ['w-14', 'w-32', 'w-20', 'ml-auto w-10', 'w-20', 'w-20'];
const WIDTHS = [MIDDLE, cx('w-[26%]', MIDDLE), cx('w-[16%]', WIDE), WIDE, LAST_IN_MIDDLE, WIDE];

export const LicenseRowSkeletons = () =>
  Array.from({ length: 8 }, (_, row) => (
    <tr key={row}>
      <Td className={SELECT} />
      <Td className={FIRST}>
        <span className="flex h-8 items-center">
          <Skeleton className="h-3.5 w-52 md:mr-9" />
        </span>
        <span className="flex h-5.5 items-center pb-1 md:hidden">
          <Skeleton className="h-3.5 w-3/5" />
        </span>
      </Td>
      {BARS.map((bar, column) => (
        <Td key={column} className={WIDTHS[column]}>
          <Skeleton className={cx('h-3.5', bar)} />
        </Td>
      ))}
    </tr>
  ));
