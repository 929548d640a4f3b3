import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  MAX_PORTAL_NAME_LENGTH,
  MAX_SLUG_LENGTH,
  type PortalPermission,
} from '../../../shared/rules/portal.ts';
import { savePortal } from '../../data/mutations.ts';
import { accountQuery } from '../../data/queries.ts';
import { type PortalSettings, portalQuery } from '../../data/settings-queries.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { Drafted, KeptField, keptValue, useDraft, useOpened } from '../../ui/draft.tsx';
import { Choice, ChoiceGroup, Form, TextField } from '../../ui/form.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showToast } from '../../ui/toast.tsx';
import { SettingsFrame } from '../settings/frame.tsx';
import { useHasMail } from '../sign-in/mail-preview.tsx';
import { ProductRules } from './product-rules.tsx';

const PERMISSIONS: [PortalPermission, string, string][] = [
  [
    'release_seat',
    'Release a machine’s seat',
    'The next machine counts toward the transfers that the terms allow.',
  ],
  ['offline_file', 'Get an offline file', 'For as many days as the terms say.'],
  ['rotate_key', 'Change their license key', 'The old one stops at once, on every machine.'],
  ['change_email', 'Change their email address', 'Both the old and the new address must confirm it.'],
];

/** The service refuses an empty text, and takes null for none. */
const orNull = (text: string | undefined) => (text === undefined || text.trim() === '' ? null : text);

const valuesOf = ({ allow, ...settings }: PortalSettings) => ({
  enabled: settings.enabled,
  slug: settings.slug,
  name: settings.name,
  accent_color: settings.accent_color,
  support_url: settings.support_url,
  products: settings.products,
  ...allow,
});

const inputOf = ({
  release_seat,
  offline_file,
  rotate_key,
  change_email,
  ...settings
}: ReturnType<typeof valuesOf>) => ({
  ...settings,
  allow: { release_seat, offline_file, rotate_key, change_email },
});

const PortalForm = ({ settings }: { settings: PortalSettings }) => {
  const draft = useDraft();
  const { opened, changesTo, saved } = useOpened(valuesOf(settings));
  const [products, setProducts] = useState(() => keptValue(draft, 'products', opened.products));
  const save = useMutation({ ...savePortal, onSuccess: () => showToast('Portal saved') });
  const send = (values: Record<string, string>, form: FormData) => {
    const next = {
      enabled: form.has('enabled'),
      slug: orNull(values['slug']),
      name: orNull(values['name']),
      accent_color: form.has('has_color') ? (values['accent_color'] ?? null) : null,
      support_url: orNull(values['support_url']),
      products,
      release_seat: form.has('release_seat'),
      offline_file: form.has('offline_file'),
      rotate_key: form.has('rotate_key'),
      change_email: form.has('change_email'),
    };
    const changes = changesTo(next);
    const edit = (current: PortalSettings) => inputOf({ ...valuesOf(current), ...changes });
    save.mutate(edit, { onSuccess: () => saved(next) });
  };
  return (
    <Form write={save} draft={draft} onSend={send} className="max-w-xl px-5 pb-5">
      <Choice name="enabled" label="The portal is on" defaultChecked={opened.enabled} />
      <TextField
        label="Address"
        name="slug"
        maxLength={MAX_SLUG_LENGTH}
        spellCheck={false}
        defaultValue={opened.slug ?? ''}
        placeholder="your-company"
        hint={`${location.origin}/portal/…  Letters, digits, and hyphens. An address that you give up stays yours for 30 days, in which you can only change back to it.`}
      />
      <TextField
        label="Name"
        name="name"
        maxLength={MAX_PORTAL_NAME_LENGTH}
        defaultValue={opened.name ?? ''}
        hint="What your customers know you as. Portal emails are sent under it."
      />
      <div className="grid gap-2">
        <Choice
          name="has_color"
          label="Buttons in your color"
          defaultChecked={opened.accent_color !== null}
        />
        <input
          type="color"
          name="accent_color"
          aria-label="Color of buttons"
          defaultValue={opened.accent_color ?? '#2563eb'}
          className="h-9 w-16 rounded-lg border border-line-strong bg-surface p-1"
        />
      </div>
      <TextField
        label="Support"
        name="support_url"
        type="url"
        defaultValue={opened.support_url ?? ''}
        hint="A URL, or mailto: and an email address. Customers find it at the bottom of the portal."
      />
      <ChoiceGroup label="Customers may">
        {PERMISSIONS.map(([name, label, hint]) => (
          <Choice key={name} name={name} label={label} hint={hint} defaultChecked={opened[name]} />
        ))}
      </ChoiceGroup>
      <KeptField name="products" value={products} />
      <ProductRules products={products} allow={settings.allow} onChange={setProducts} />
      <div>
        <Button type="submit" variant="solid" isBusy={save.isPending}>
          Save portal
        </Button>
      </div>
    </Form>
  );
};

const Preview = ({ settings: { enabled, url } }: { settings: PortalSettings }) => {
  if (!enabled || url === null) return null;
  return (
    <div className="flex items-center gap-1">
      <CopyIcon text={url} what="the portal’s address" />
      <a href={url} target="_blank" rel="noreferrer" className={buttonClass({ size: 'sm' })}>
        Preview
      </a>
    </div>
  );
};

/** Customers get no email to sign in until the seller has verified an address. */
const NoEmails = () => {
  const hasMail = useHasMail();
  const { data: account } = useQuery(accountQuery);
  if (!hasMail || account?.email_verified !== false) return null;
  return (
    <p className="mb-4 border-y border-line bg-warn-soft px-5 py-3 text-sm">
      Until your own email address is verified, the portal sends no emails, so no customer can sign in by
      email.{' '}
      <Link to="/settings" className="underline">
        Verify it
      </Link>
    </p>
  );
};

export const PortalSettingsPage = () => {
  const { data: settings, error, refetch } = useQuery(portalQuery);
  return (
    <SettingsFrame section="Portal">
      {settings ? (
        <Drafted name="portal">
          <Card>
            <CardHeader
              title="Portal"
              hint="A page where your customers see and manage their licenses and machines."
              actions={<Preview settings={settings} />}
            />
            <NoEmails />
            <PortalForm settings={settings} />
          </Card>
        </Drafted>
      ) : error ? (
        <Card>
          <LoadError error={error} onRetry={() => void refetch()} />
        </Card>
      ) : (
        <Skeleton className="h-96 rounded-xl" />
      )}
    </SettingsFrame>
  );
};
