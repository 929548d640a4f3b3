import { Link } from '@tanstack/react-router';
import type { Dashboard } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { Card, CardHeader } from '../../ui/card.tsx';

type Usage = NonNullable<Dashboard['usage_by_product']>;

/** The calls of this period by product, with bars in proportion to the product with the most calls. */
export const ProductUsage = ({ usage }: { usage: Usage }) => {
  const most = Math.max(1, ...usage.map(({ calls }) => calls));
  return (
    <Card aria-label="Usage by product">
      <CardHeader title="Usage by product" hint="Verify and activate calls in this period" />
      <ul className="border-t border-line px-3 py-2">
        {usage.map(({ product, name, calls }) => (
          <li key={product}>
            <Link
              to="/products/$code"
              params={{ code: product }}
              className="grid h-9 grid-cols-[minmax(0,1fr)_minmax(0,1fr)_4.5rem] items-center gap-3 rounded-md px-2 text-sm transition-colors hover:bg-hover"
            >
              <span className="truncate">{name ?? product}</span>
              <span aria-hidden className="h-1.5 overflow-hidden rounded-full bg-line">
                <span
                  className="block h-full rounded-full bg-brass-line"
                  style={{ width: `${(calls / most) * 100}%` }}
                />
              </span>
              <span className="nums text-right">{formatCount(calls)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
};
