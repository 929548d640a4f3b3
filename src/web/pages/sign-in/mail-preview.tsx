import { useQuery } from '@tanstack/react-query';
import { healthQuery } from '../../data/settings-queries.ts';
import { LINK } from './frame.tsx';

/** Whether the service sends email. False until that is known. */
export const useHasMail = (): boolean => {
  const { data } = useQuery(healthQuery);
  return data?.checks['mail'] === 'ok';
};

/** Whether it is known that the service can't send email. */
export const useLacksMail = (): boolean => {
  const { data } = useQuery(healthQuery);
  return data !== undefined && data.checks['mail'] !== 'ok';
};

/** Whether anybody can create an account. False until that is known. */
export const useIsOpen = (): boolean => {
  const { data } = useQuery(healthQuery);
  return data !== undefined && data.registration === undefined;
};

/** Says where to read the emails of a local run, which sends none. */
export const MailPreview = () => {
  const { data } = useQuery(healthQuery);
  if (!data?.mail_preview) return null;
  return (
    <p className="rounded-lg bg-brass-soft px-3 py-2 text-sm">
      This is a local run, which doesn’t send email.{' '}
      <a href={data.mail_preview} target="_blank" rel="noreferrer" className={LINK}>
        Read the email here
      </a>
      .
    </p>
  );
};
