import { Globe } from 'lucide-react';
import { REGION_NAMES } from '../../../shared/rules/regions.ts';
import type { Regions } from '../../data/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { Empty } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table, Th } from '../../ui/table.tsx';

type RegionTraffic = Regions['regions'][number];
type Figures = Pick<RegionTraffic, 'calls' | 'p50_ms' | 'p95_ms'>;

const HEAD = (
  <>
    <Th>Callers near</Th>
    <Th className="w-1/4 max-md:hidden">
      <span className="sr-only">Share of calls</span>
    </Th>
    <Th className="text-right">Calls</Th>
    <Th className="text-right">p50</Th>
    <Th className="text-right">p95</Th>
  </>
);

const formatMs = (ms: number | null) => (ms === null ? '–' : `${formatCount(ms)} ms`);

const FigureCells = ({ figures, className }: { figures: Figures; className: string }) =>
  [formatCount(figures.calls), formatMs(figures.p50_ms), formatMs(figures.p95_ms)].map((text, i) => (
    <td key={i} className={cx('nums px-3 text-right align-top whitespace-nowrap last:pr-5', className)}>
      {text}
    </td>
  ));

interface RowsProps {
  traffic: RegionTraffic;
  home: Regions['home_region'];
  /** The calls of the region with the most calls. */
  most: number;
}

const answererOf = (region: Regions['home_region'], { traffic, home }: RowsProps) => {
  if (region === home || region === null) return 'Answered by home';
  return region === traffic.region ? 'Answered by the branch' : `Answered in ${REGION_NAMES[region]}`;
};

/** A region's calls. If both home and a branch have answered, a row for each follows. */
const RegionRows = (props: RowsProps) => {
  const { region, calls, answered_by: answeredBy } = props.traffic;
  const [only, ...others] = answeredBy;
  const isOnly = others.length === 0;
  return (
    <>
      <tr className={cx(!isOnly && 'border-b-0!')}>
        <td className="px-3 py-2.5 pl-5 align-top">
          <span className="font-medium">{REGION_NAMES[region]}</span>
          {only && isOnly && (
            <span className="block text-xs text-muted">{answererOf(only.region, props)}</span>
          )}
        </td>
        <td className="px-3 pt-4.5 align-top max-md:hidden" aria-hidden>
          <span className="block h-1.5 overflow-hidden rounded-full bg-line">
            <span
              className="block h-full rounded-full bg-brass-line"
              style={{ width: `${(calls / props.most) * 100}%` }}
            />
          </span>
        </td>
        <FigureCells figures={props.traffic} className="py-2.5" />
      </tr>
      {!isOnly &&
        answeredBy.map((answered, i) => {
          const isLast = i === others.length;
          return (
            <tr
              key={answered.region ?? 'home'}
              className={cx('text-xs text-muted', !isLast && 'border-b-0!')}
            >
              <td className={cx('pr-3 pl-5', isLast ? 'pb-2.5' : 'pb-1')}>
                {answererOf(answered.region, props)}
              </td>
              <td className="max-md:hidden" aria-hidden />
              <FigureCells figures={answered} className={isLast ? 'pb-2.5' : 'pb-1'} />
            </tr>
          );
        })}
    </>
  );
};

const NoCalls = ({ enabled }: { enabled: boolean }) =>
  enabled ? (
    <Empty icon={<Globe />} title="No calls yet">
      Once your applications make calls, this shows where the callers are and how long an answer takes.
    </Empty>
  ) : (
    <Empty icon={<Globe />} title="Calls aren’t counted by region">
      On this service, the home region answers all calls. Its operator can turn on branches, which also counts
      calls by region.
    </Empty>
  );

/** The calls of applications by the region of their callers. */
export const Traffic = ({ regions }: { regions: Regions | undefined }) => {
  const most = Math.max(1, ...(regions?.regions.map(({ calls }) => calls) ?? []));
  return (
    <Card>
      <CardHeader
        title="Calls by region"
        hint="Last 30 days. Latency is how long Cloudflare’s data center near the caller waits for an answer."
      />
      {regions?.regions.length === 0 ? (
        <NoCalls enabled={regions.enabled} />
      ) : (
        <Table label="Calls by region" head={HEAD}>
          {regions ? (
            regions.regions.map((traffic) => (
              <RegionRows key={traffic.region} traffic={traffic} home={regions.home_region} most={most} />
            ))
          ) : (
            <SkeletonRows rows={3} columns={4} />
          )}
        </Table>
      )}
    </Card>
  );
};
