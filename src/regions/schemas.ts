import * as z from 'zod';
import type { OpenBranch } from '../gate/rules/traffic.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { REGIONS } from '../shared/rules/regions.ts';

const region = z.enum(REGIONS);

export const branchBody = z
  .object({ region, opened_at: z.iso.datetime() })
  .meta({ id: 'Branch', description: 'A region that also answers verifies, near the callers there.' });

export const toBranch = ({ region, openedAtMs }: OpenBranch): z.infer<typeof branchBody> => ({
  region,
  opened_at: isoTime(openedAtMs),
});

export const movingTo = region.nullable().meta({
  description: 'The region to which the account is moving, or null.',
});

export const moveHomeInput = z
  .strictObject({ region: region.meta({ description: 'Choose the region nearest to your application.' }) })
  .meta({ id: 'MoveHome' });

export const homeRegionBody = z
  .object({
    home_region: region.nullable().meta({ description: 'The home region until the account has moved.' }),
    moving_to: movingTo,
  })
  .meta({ id: 'HomeRegion' });

const latency = z.int().min(0).nullable().meta({
  description:
    'Milliseconds that Cloudflare’s data center near the caller waited for the answer, measured for some of the calls. Null without a measurement.',
});

const figures = { calls: z.int().min(0), p50_ms: latency, p95_ms: latency };

export const regionsBody = z
  .object({
    enabled: z.boolean().meta({
      description:
        'Whether this service answers verifies in more than one region, and counts calls by region.',
    }),
    home_region: region.nullable().meta({
      description: 'Where the account’s data is. Null if Cloudflare has chosen the place.',
    }),
    moving_to: movingTo,
    branches: z.array(branchBody).meta({ description: 'The other regions that answer verifies now.' }),
    days: z.int().meta({ description: 'The figures cover this many days in UTC, including today.' }),
    regions: z
      .array(
        z.object({
          region,
          ...figures,
          answered_by: z.array(z.object({ region: region.nullable(), ...figures })).meta({
            description: 'The calls by the region that answered. Null stands for a home without a region.',
          }),
        }),
      )
      .meta({
        description:
          'Answered calls of applications by the region nearest to the caller, most calls first. Branches report theirs every minute or so.',
      }),
  })
  .meta({ id: 'Regions' });
