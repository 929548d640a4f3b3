import type { FeedPosition } from './rows.ts';
import type { CountedCall } from './usage.ts';

// What the Worker announces before it commits a change, and home's answer.

/** A licensing call that makes a change. Calls with the same claim are repeats, of which one at most is committed. */
export interface CountedChange {
  call: CountedCall;
  claim: string | null;
}

export interface AnnouncementRefusal {
  refused: 'usage_limit_exceeded' | 'unavailable';
  retryAfterSeconds: number;
}

/** `position` tells the change's own batch where to read the feed. */
export type Announcement = { refused: null; position: FeedPosition } | AnnouncementRefusal;
