import { useMutation } from '@tanstack/react-query';
import { MAIL_TOPICS, type MailTopic } from '../../../shared/rules/mail-topics.ts';
import { OWN_PLAN } from '../../../shared/rules/plans.ts';
import { chooseEmails, withChoice } from '../../data/access-mutations.ts';
import type { Account } from '../../data/queries.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { FormError } from '../../ui/notice.tsx';
import { showToast } from '../../ui/toast.tsx';

const TEXTS: Record<MailTopic, { name: string; hint: string }> = {
  usage: { name: 'Usage', hint: 'At 80%, 100%, and 125% of a period’s API calls.' },
  limits: { name: 'Limits', hint: 'At 90% of the licenses or of the storage.' },
  billing: { name: 'Billing', hint: 'When a payment fails, and before a plan ends.' },
  webhooks: { name: 'Webhooks', hint: 'When a webhook is disabled because its receiver fails.' },
};

/** Which emails the owner wants. */
export const EmailTopicsCard = ({ account }: { account: Account }) => {
  const edit = useMutation({ ...chooseEmails, onSuccess: () => showToast('Emails saved') });
  // Shows what was chosen while it is saved.
  const muted = edit.isPending ? withChoice(account.muted_emails, edit.variables) : account.muted_emails;
  const choose = (topic: MailTopic, isWanted: boolean) => {
    if (!edit.isPending) edit.mutate({ topic, isWanted });
  };
  const topics = MAIL_TOPICS.filter((topic) => topic !== 'billing' || account.plan !== OWN_PLAN);
  return (
    <Card aria-label="Emails">
      <CardHeader title="Emails" hint="Emails about security are always sent." />
      <fieldset className="grid gap-3 px-5 pb-5">
        <legend className="sr-only">Emails that this account gets</legend>
        {topics.map((topic) => (
          <label key={topic} className="flex cursor-pointer items-start gap-3">
            <input
              type="checkbox"
              // If it were disabled, the box that was just pressed would lose the focus.
              aria-disabled={edit.isPending || undefined}
              checked={!muted.includes(topic)}
              onChange={({ currentTarget }) => choose(topic, currentTarget.checked)}
              className="mt-0.5 size-4 accent-ink aria-disabled:opacity-50"
            />
            <span>
              {TEXTS[topic].name}
              <span className="block text-sm text-muted">{TEXTS[topic].hint}</span>
            </span>
          </label>
        ))}
        <FormError error={edit.error} />
      </fieldset>
    </Card>
  );
};
