import { DAY_MS } from './dates.ts';

/** How long a token is good that says no. */
export const NEGATIVE_TOKEN_MS = 600_000;

/** A license is good through the end of its last day, UTC. */
const endOfDayMs = (date: string) => Date.parse(`${date}T00:00:00.000Z`) + DAY_MS;

interface Limits {
  offlineDays: number;
  /** The license's last day, or null if it is perpetual. */
  licenseEnds: string | null;
  leaseUntilMs?: number | null;
}

/** When a token ends that is issued now and says yes. */
export const tokenEndMs = ({ offlineDays, licenseEnds, leaseUntilMs }: Limits, nowMs: number): number =>
  Math.min(
    nowMs + offlineDays * DAY_MS,
    licenseEnds === null ? Infinity : endOfDayMs(licenseEnds),
    leaseUntilMs ?? Infinity,
  );
