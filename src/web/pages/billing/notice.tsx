import { CircleAlert, CircleCheck, CircleMinus, Clock, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';

const KINDS = {
  good: { icon: CircleCheck, box: 'border-transparent bg-good-soft', color: 'text-good' },
  bad: { icon: CircleAlert, box: 'border-transparent bg-bad-soft', color: 'text-bad' },
  waiting: { icon: Clock, box: 'border-transparent bg-brass-soft', color: 'text-brass' },
  plain: { icon: CircleMinus, box: 'border-line bg-surface', color: 'text-muted' },
};

export interface NoticeContent {
  kind: keyof typeof KINDS;
  title: string;
  text: string;
}

/** A status message that screen readers announce when its text changes. */
export const Notice = ({
  content: { kind, title, text },
  action,
  onDismiss,
}: {
  content: NoticeContent;
  action?: ReactNode;
  onDismiss: () => void;
}) => {
  const { icon: Icon, box, color } = KINDS[kind];
  return (
    <div className={cx('flex items-start gap-3 rounded-xl border py-3 pr-2.5 pl-4', box)}>
      <Icon aria-hidden className={cx('mt-2 size-4 shrink-0', color)} />
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-2 py-1">
        <div role="status" className="min-w-0 flex-1 basis-64">
          <p className="font-medium">{title}</p>
          <p className="text-sm text-muted">{text}</p>
        </div>
        {action}
      </div>
      <IconButton label="Dismiss" onClick={onDismiss}>
        <X aria-hidden />
      </IconButton>
    </div>
  );
};
