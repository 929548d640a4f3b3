import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Dashboard } from '../../data/queries.ts';
import { formatCompact, formatCount, formatDay } from '../../lib/format.ts';
import { useIsDark } from '../../lib/theme.ts';

type Days = Dashboard['usage_by_day'];

const HEIGHT_PX = 216;

/** Returns the current color of a design token in a form that a canvas accepts. */
const colorOf = (element: HTMLElement, token: string): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(--color-${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

const toData = (days: Days): uPlot.AlignedData => [
  days.map((_, index) => index),
  // The back series is the sum of both, so that its visible part is `create`.
  days.map(({ verify, create }) => verify + create),
  days.map(({ verify }) => verify),
];

const MIN_Y_MAX = 4;

const optionsFor = (
  host: HTMLElement,
  days: Days,
  onHover: (index: number | null, left: number) => void,
): uPlot.Options => {
  const font = `11px ${getComputedStyle(host).fontFamily}`;
  const muted = colorOf(host, 'muted');
  const bars = uPlot.paths.bars?.({ size: [0.66, 28], radius: [0.25, 0] });
  const series = (label: string, token: string): uPlot.Series => ({
    label,
    fill: colorOf(host, token),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  });
  return {
    width: host.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.6, days.length - 0.4] },
      y: { range: (_plot, _min, max) => [0, Math.max(MIN_Y_MAX, max * 1.08)] },
    },
    axes: [
      {
        font,
        stroke: muted,
        grid: { show: false },
        ticks: { show: false },
        space: 56,
        size: 26,
        values: (_plot, splits) =>
          splits.map((index) => (Number.isInteger(index) && days[index] ? formatDay(days[index].date) : '')),
      },
      {
        font,
        stroke: muted,
        grid: { stroke: colorOf(host, 'line'), width: 1 },
        ticks: { show: false },
        size: 44,
        incrs: [1, 2, 5]
          .flatMap((step) => Array.from({ length: 8 }, (_, power) => step * 10 ** power))
          .toSorted((a, b) => a - b),
        values: (_plot, splits) => splits.map((value) => formatCompact(value)),
      },
    ],
    series: [{}, series('create', 'pause'), series('verify', 'brass-line')],
    hooks: {
      setCursor: [({ cursor }) => onHover(cursor.idx ?? null, cursor.left ?? 0)],
    },
  };
};

const Legend = ({ token, name, total }: { token: string; name: string; total: number }) => (
  <span className="flex items-center gap-1.5">
    <span aria-hidden className={`size-2.5 rounded-[3px] ${token}`} />
    {name}
    <span className="nums text-ink">{formatCount(total)}</span>
  </span>
);

const sum = (days: Days, of: 'verify' | 'create') => days.reduce((total, day) => total + day[of], 0);

const Plot = ({ days }: { days: Days }) => {
  const host = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<{ index: number; left: number; width: number } | null>(null);

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const onHover = (index: number | null, left: number) =>
      setHover(index === null || left < 0 ? null : { index, left, width: element.clientWidth });
    const plot = new uPlot(optionsFor(element, days, onHover), toData(days), element);
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [days]);

  const day = hover && days[hover.index];
  const verified = sum(days, 'verify');
  const created = sum(days, 'create');
  return (
    <div className="h-61">
      <div
        role="img"
        aria-label={`API calls in the last 30 days: ${formatCount(verified)} verify, ${formatCount(created)} create. The table shows each day.`}
        className="relative"
      >
        <div ref={host} className="h-54 overflow-hidden" />
        {day && (
          <div
            className="pointer-events-none absolute top-1 z-10 min-w-32 rounded-lg border border-line bg-raised px-3 py-2 text-xs shadow-pop"
            style={
              hover.left > hover.width / 2
                ? { right: hover.width - hover.left - 24 }
                : { left: hover.left + 64 }
            }
          >
            <p className="mb-1 font-medium">{formatDay(day.date)}</p>
            <p className="flex justify-between gap-4">
              Verify <span className="nums">{formatCount(day.verify)}</span>
            </p>
            <p className="flex justify-between gap-4">
              Create <span className="nums">{formatCount(day.create)}</span>
            </p>
          </div>
        )}
      </div>
      <p className="flex gap-4 pt-1 text-xs text-muted">
        <Legend token="bg-brass-line" name="Verify" total={verified} />
        <Legend token="bg-pause" name="Create" total={created} />
      </p>
    </div>
  );
};

/** Remounts the plot when the theme changes. */
const UsageChart = ({ days }: { days: Days }) => <Plot key={String(useIsDark())} days={days} />;

export default UsageChart;
