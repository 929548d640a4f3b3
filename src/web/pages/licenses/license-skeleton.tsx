import type { ReactNode } from 'react';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

const Lines = ({ lines }: { lines: number }) => (
  <div className="grid gap-5 px-5 pt-2 pb-5">
    {Array.from({ length: lines }, (_, line) => (
      <Skeleton key={line} className="h-4 w-3/5" />
    ))}
  </div>
);

/** Shown while a license that isn't in a cached list loads. */
export const LicenseSkeleton = ({ above }: { above: ReactNode }) => (
  <Page
    title="License"
    heading={
      <>
        <span className="sr-only">License</span>
        <Skeleton className="h-7 w-72" />
      </>
    }
    above={above}
    actions={<Skeleton className="h-8 w-72" />}
  >
    <div
      aria-busy
      className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_26rem]"
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <Card>
          <CardHeader title="Customer and product" />
          <Lines lines={6} />
        </Card>
        <Card>
          <CardHeader title="Seats" />
          <Lines lines={2} />
        </Card>
      </div>
      <Card>
        <CardHeader title="History" />
        <Lines lines={4} />
      </Card>
    </div>
  </Page>
);
