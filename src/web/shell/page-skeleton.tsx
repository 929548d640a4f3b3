import { Skeleton } from '../ui/skeleton.tsx';

/** While a page's own script is on its way. */
export const PageSkeleton = () => (
  <div aria-busy className="mx-auto w-full max-w-[76rem] px-4 pt-6 sm:px-8 sm:pt-8">
    <Skeleton className="mb-7 h-7 w-40" />
    <Skeleton className="h-72 rounded-xl" />
  </div>
);
