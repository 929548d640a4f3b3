import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { MAX_NAME_LENGTH, MIN_PASSWORD_LENGTH } from '../../../shared/rules/accounts.ts';
import { REGION_NAMES, REGIONS } from '../../../shared/rules/regions.ts';
import { register } from '../../data/access-mutations.ts';
import { healthQuery } from '../../data/settings-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { AlternateLink, SignInFrame, useCompleteSignIn } from './frame.tsx';
import { useToken } from './use-token.ts';

const route = getRouteApi('/register');

const SignInInstead = ({ next }: { next: string | undefined }) => (
  <AlternateLink question="Have an account?" to="/login" next={next}>
    Sign in
  </AlternateLink>
);

const RegisterForm = ({ next, invitation }: { next: string | undefined; invitation: string | null }) => {
  const registration = useMutation({ ...register, onSuccess: useCompleteSignIn(next) });
  const send = ({ email = '', password = '', name = '', home_region = '' }: Record<string, string>) => {
    const homeRegion = REGIONS.find((region) => region === home_region);
    registration.mutate({
      email,
      password,
      ...(name && { name }),
      ...(homeRegion && { home_region: homeRegion }),
      ...(invitation && { invitation }),
    });
  };
  return (
    <SignInFrame
      title="Create your account"
      hint="For your products, licenses, and API keys."
      below={<SignInInstead next={next} />}
    >
      <Form write={registration} onSend={send}>
        <TextField label="Email" name="email" type="email" autoComplete="username" autoFocus required />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={MIN_PASSWORD_LENGTH}
          hint={`At least ${MIN_PASSWORD_LENGTH} characters.`}
          required
        />
        <TextField
          label="Name"
          name="name"
          autoComplete="organization"
          maxLength={MAX_NAME_LENGTH}
          hint="Your name or your company’s. Optional."
        />
        <SelectField
          label="Region"
          name="home_region"
          hint="Where licenses are verified. Choose the region nearest to your customers. You can change it later."
        >
          <option value="">Near you</option>
          {REGIONS.map((region) => (
            <option key={region} value={region}>
              {REGION_NAMES[region]}
            </option>
          ))}
        </SelectField>
        <Button type="submit" variant="solid" isBusy={registration.isPending}>
          Create account
        </Button>
      </Form>
    </SignInFrame>
  );
};

export const Register = () => {
  const { next } = route.useSearch();
  const { data: health } = useQuery(healthQuery);
  const invitation = useToken('invitation');
  const below = <SignInInstead next={next} />;
  if (health?.registration === 'closed')
    return (
      <SignInFrame title="Registration is closed" hint="This service takes no new accounts." below={below} />
    );
  if (health?.registration === 'invite' && invitation === null)
    return (
      <SignInFrame
        title="By invitation only"
        hint="Open the link that the operator of this service gave you, or ask them for one."
        below={below}
      />
    );
  return <RegisterForm next={next} invitation={invitation} />;
};
