import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../data/error.ts';
import {
  type MailWords,
  mailPreviewQuery,
  type ProductMail,
  productMailQuery,
  saveProductMail,
  testProductMail,
} from '../../data/product-mail.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Drafted, useDraft, useOpened } from '../../ui/draft.tsx';
import { Form, TextArea, TextField, textsOf } from '../../ui/form.tsx';
import { FormError, LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { MailFrame } from './mail-frame.tsx';

const PAUSE_MS = 300;

/** The service takes null for a default. */
const toWords = (texts: Record<string, string>): MailWords => {
  const text = (name: string) => texts[name]?.trim() || null;
  return { from_name: text('from_name'), intro: text('intro'), support_url: text('support_url') };
};

/** The email with the present words. */
const Preview = ({ code, words }: { code: string; words: MailWords }) => {
  const settled = useSettled(JSON.stringify(words), PAUSE_MS);
  const { data, error } = useQuery(mailPreviewQuery(code, JSON.parse(settled) as MailWords));
  const isIncomplete = error instanceof ApiError && error.code === 'invalid_request';
  const test = useMutation({
    ...testProductMail(code),
    onSuccess: ({ sent_to }) => showToast(`Email sent to ${sent_to}`),
  });
  return (
    <Card aria-label="What the buyer gets">
      <CardHeader
        title="What the buyer gets"
        hint="With an example key. Unsaved changes are shown, too."
        actions={
          <Button size="sm" isBusy={test.isPending} onClick={() => test.mutate(words)}>
            Send me a test
          </Button>
        }
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 px-5 pb-5">
        <FormError error={test.error ?? (isIncomplete ? null : error)} />
        {isIncomplete && <p className="text-sm text-muted">Complete the fields to see the email.</p>}
        {data ? (
          <>
            <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-sm">
              <dt className="text-muted">From</dt>
              <dd className="wrap-anywhere">{data.from_name}</dd>
              {data.reply_to !== null && (
                <>
                  <dt className="text-muted">Replies go to</dt>
                  <dd className="wrap-anywhere">{data.reply_to}</dd>
                </>
              )}
              <dt className="text-muted">Subject</dt>
              <dd className="wrap-anywhere">{data.subject}</dd>
            </dl>
            <MailFrame html={data.html} />
          </>
        ) : (
          !error && <Skeleton className="h-80" />
        )}
      </div>
    </Card>
  );
};

const MailForm = ({ mail: { code, from_name, intro, support_url } }: { mail: ProductMail }) => {
  const { opened, changesTo, saved } = useOpened<MailWords>({ from_name, intro, support_url });
  const [words, setWords] = useState(opened);
  const save = useMutation({ ...saveProductMail(code), onSuccess: () => showToast('Email saved') });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_30rem]">
      <Card>
        <CardHeader
          title="Email to buyers"
          hint="Each purchase from one of your stores sends one, with the keys."
        />
        <Form
          write={save}
          draft={useDraft()}
          onChange={(event) => setWords(toWords(textsOf(new FormData(event.currentTarget))))}
          onSend={(texts) => {
            const next = toWords(texts);
            save.mutate(changesTo(next), { onSuccess: () => saved(next) });
          }}
          className="px-5 pt-1 pb-5"
        >
          <TextField
            label="From"
            name="from_name"
            maxLength={100}
            defaultValue={opened.from_name ?? ''}
            placeholder="The name of your portal or account"
          />
          <TextArea
            label="How to activate"
            name="intro"
            maxLength={1_000}
            defaultValue={opened.intro ?? ''}
            placeholder="Enter the key in the application to activate it."
          />
          <TextField
            label="Help page"
            name="support_url"
            type="url"
            defaultValue={opened.support_url ?? ''}
            placeholder="https://"
            hint="Without one, buyers are told to reply to the email."
          />
          <div className="flex">
            <Button type="submit" variant="solid" isBusy={save.isPending}>
              Save email
            </Button>
          </div>
        </Form>
      </Card>
      <Preview code={code} words={words} />
    </div>
  );
};

/** Edits what the emails to a product's buyers say, next to the email. */
export const BuyerMail = ({ code, draft }: { code: string; draft: string }) => {
  const { data, error, refetch } = useQuery(productMailQuery(code));
  if (data)
    return (
      <Drafted name={draft}>
        <MailForm mail={data} />
      </Drafted>
    );
  return error ? (
    <Card>
      <LoadError error={error} onRetry={() => void refetch()} />
    </Card>
  ) : (
    <Skeleton className="h-96 rounded-xl" />
  );
};
