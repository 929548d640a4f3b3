import { ConfigError } from '../../shared/config/config.ts';
import { LEASE_MS } from '../rules/lease.ts';
import { OPEN_AFTER_CALLS } from '../rules/opening.ts';

type Variables = Partial<Pick<Env, 'REGIONS' | 'REGIONS_LEASE_SECONDS' | 'REGIONS_OPEN_AFTER'>>;

export interface RegionSettings {
  /** Whether home opens branches. It closes those that are open otherwise. */
  isOn: boolean;
  leaseMs: number;
  /** The calls from a region within a minute that open its branch. */
  openAfterCalls: number;
}

const isWhole = (value: string, min: number, max: number) =>
  /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max;

/** Reads the settings. An invalid one has its default, and `REGIONS` is off, so that no verify fails because of them. */
const read = ({
  REGIONS: regions,
  REGIONS_LEASE_SECONDS: lease,
  REGIONS_OPEN_AFTER: openAfter,
}: Variables) => {
  const problems: string[] = [];
  if (regions !== undefined && regions !== 'on' && regions !== 'off')
    problems.push('REGIONS must be "on" or "off".');
  const wholeOr = (name: string, value: string | undefined, min: number, max: number) => {
    if (value === undefined || isWhole(value, min, max)) return value;
    problems.push(`${name} must be a whole number from ${min} to ${max}.`);
    return undefined;
  };
  const leaseSeconds = wholeOr('REGIONS_LEASE_SECONDS', lease, 5, 300);
  const openAfterCalls = wholeOr('REGIONS_OPEN_AFTER', openAfter, 1, 100_000);
  const settings: RegionSettings = {
    isOn: regions === 'on',
    leaseMs: leaseSeconds === undefined ? LEASE_MS : Number(leaseSeconds) * 1_000,
    openAfterCalls: openAfterCalls === undefined ? OPEN_AFTER_CALLS : Number(openAfterCalls),
  };
  return { settings, problems };
};

export const readRegionSettings = (env: Variables): RegionSettings => read(env).settings;

/** Throws if a setting is invalid, for the health check. */
export const checkRegionSettings = (env: Variables): void => {
  const [problem] = read(env).problems;
  if (problem !== undefined) throw new ConfigError(problem);
};
