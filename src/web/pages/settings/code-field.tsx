import { TextField } from '../../ui/form.tsx';

/** A code that proves who sends the form. */
export const CodeField = () => (
  <TextField
    label="Code"
    name="code"
    autoComplete="one-time-code"
    spellCheck={false}
    hint="From your authenticator app, or a recovery code."
    required
    className="nums"
  />
);
