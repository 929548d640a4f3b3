import { useEffect, useEffectEvent, useState } from 'react';
import { errorMessage } from '../data/error.ts';
import {
  ask,
  type CustomersLicense,
  portal,
  type PortalPage,
  setSignedOutListener,
  slug,
} from '../data/portal.ts';
import { Account, SIGNED_OUT } from './account.tsx';
import { License } from './license.tsx';
import { Button, Card, Notice, useAction } from './parts.tsx';

interface HomeProps {
  page: PortalPage;
  onSignedOut: (because?: string | null) => void;
}

type LicensePage = Awaited<ReturnType<typeof fetchPage>>;

const fetchPage = (after: string | null) => {
  const query = { limit: undefined, cursor: after ?? undefined };
  return ask(portal.licenses.$get({ param: { slug }, query }));
};

/** The licenses of whoever is signed in. Without a session, the page asks for one. */
export const Home = ({ page, onSignedOut }: HomeProps) => {
  const [licenses, setLicenses] = useState<CustomersLicense[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);

  const show = (list: LicensePage, after: string | null) => {
    setLicenses((before) => [...(after === null ? [] : (before ?? [])), ...list.data]);
    setCursor(list.next_cursor);
  };
  const showFirst = useEffectEvent((list: LicensePage) => show(list, null));
  const signOut = useEffectEvent(() => onSignedOut(licenses ? SIGNED_OUT : undefined));
  useEffect(() => {
    setSignedOutListener(() => signOut());
    fetchPage(null).then(showFirst, setError);
  }, []);
  const more = useAction(async () => show(await fetchPage(cursor), cursor));

  if (error) return <Notice tone="bad">{errorMessage(error)}</Notice>;
  if (!licenses) return <p className="py-8 text-center text-muted">Loading…</p>;
  return (
    <>
      {licenses.length === 0 && (
        <Card title="No licenses">
          <p className="text-muted">No license has this address.</p>
        </Card>
      )}
      {licenses.map((license) => (
        <License
          key={license.id}
          license={license}
          onChange={(changed) =>
            setLicenses((all) => all?.map((one) => (one.id === changed.id ? changed : one)) ?? null)
          }
        />
      ))}
      {cursor !== null && (
        <Button isBusy={more.isBusy} onClick={more.run}>
          Show more licenses
        </Button>
      )}
      {more.failure}
      <Account page={page} onSignedOut={onSignedOut} />
    </>
  );
};
