import { ask, portal, type PortalSession, slug } from '../data/portal.ts';
import { Button, Card, useAction } from './parts.tsx';

/** Takes the token out of the address, so that it is neither in the history nor copied with the address. */
export const takeToken = (): string | null => {
  const token = /^#token=(\w+)$/.exec(location.hash)?.[1] ?? null;
  if (token) history.replaceState(null, '', location.pathname);
  return token;
};

/** Scanners open the links of emails, so a link does nothing until somebody presses the button. */
export const TokenStep = ({
  token,
  onDone,
  onOther,
}: {
  token: string;
  onDone: (session: PortalSession) => void;
  onOther: () => void;
}) => {
  const isChange = token.startsWith('lkc_');
  const { run, isBusy, failure } = useAction(async () =>
    onDone(await ask(portal.session.$post({ param: { slug }, json: { token } }))),
  );
  return (
    <Card title={isChange ? 'Confirm your new email address' : 'Sign in'}>
      <p className="text-muted">
        {isChange
          ? 'Your licenses move once both your old and your new address are confirmed.'
          : 'Press the button to see your licenses.'}
      </p>
      {failure}
      <div className="flex flex-wrap gap-2">
        <Button variant="solid" isBusy={isBusy} onClick={run}>
          {isChange ? 'Confirm' : 'Sign in'}
        </Button>
        {failure && <Button onClick={onOther}>Ask for another link</Button>}
      </div>
    </Card>
  );
};
