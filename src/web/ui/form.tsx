import { ChevronDown } from 'lucide-react';
import {
  type ComponentProps,
  createContext,
  type FormEvent,
  type ReactNode,
  use,
  useEffect,
  useEffectEvent,
  useId,
  useRef,
  useState,
} from 'react';
import { ApiError } from '../data/error.ts';
import { capitalize } from '../lib/format.ts';
import { cx } from './cx.ts';
import { type Draft, useDrafting } from './draft.tsx';
import { FormError } from './notice.tsx';

type FieldErrors = Record<string, string>;
const Errors = createContext<FieldErrors>({});

/** Returns the error of a custom field, for fields other than the components below. */
export const useFieldError = (name: string): string | undefined => use(Errors)[name];

/** Splits an API error into the errors of the form's fields and the rest, which is shown below the buttons. */
const sortError = (error: unknown, names: string[]): { fieldErrors: FieldErrors; rest: unknown } => {
  if (!(error instanceof ApiError) || error.details.length === 0) return { fieldErrors: {}, rest: error };
  const fieldErrors: FieldErrors = {};
  const others = [];
  for (const { path, message } of error.details) {
    const name = names.includes(path) ? path : (path.split('.')[0] ?? '');
    if (names.includes(name)) fieldErrors[name] ??= capitalize(message);
    else others.push(`${path}: ${message}`);
  }
  if (others.length === 0) return { fieldErrors, rest: null };
  // The details of other errors, such as a limit, say nothing about a field.
  return { fieldErrors, rest: error.code === 'invalid_request' ? new Error(others.join('; ')) : error };
};

/** Returns the fields of a form that are texts. */
export const textsOf = (data: FormData): Record<string, string> => {
  const texts: Record<string, string> = {};
  for (const [name, value] of data) if (typeof value === 'string') texts[name] = value;
  return texts;
};

const namesOf = (form: HTMLFormElement) =>
  [...form.elements].map((element) => element.getAttribute('name') ?? '');

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  /** The mutation that the form sends. Nothing else is sent while it is pending. The form shows its error. */
  write: { isPending: boolean; isSuccess?: boolean; error: unknown };
  /** Keeps what is typed, see `Drafted`. */
  draft?: Draft | null;
  /** Gets the form's text fields. The form shows an `invalidField` error thrown here like an API error. */
  onSend: (values: Record<string, string>, form: FormData) => void;
}

export const Form = ({ write, onSend, draft = null, children, className, ...props }: FormProps) => {
  const ref = useRef<HTMLFormElement>(null);
  const [names, setNames] = useState<string[]>([]);
  const [invalid, setInvalid] = useState<unknown>(null);
  const error = invalid ?? write.error;
  const { fieldErrors, rest } = sortError(error, names);
  useDrafting(draft, ref, write);

  const focusFirstError = useEffectEvent((failure: unknown) => {
    const first = names.find((name) => name in fieldErrors);
    if (failure && first) ref.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first)}"]`)?.focus();
  });
  useEffect(() => focusFirstError(error), [error]);

  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // React events bubble from a dialog's form to the form that the dialog is rendered in.
    event.stopPropagation();
    if (write.isPending) return;
    const form = event.currentTarget;
    const data = new FormData(form);
    setNames(namesOf(form));
    setInvalid(null);
    try {
      onSend(textsOf(data), data);
      // If the answer is lost, a reload must know what was sent, and under which key.
      draft?.save(form);
    } catch (failure) {
      setInvalid(failure);
    }
  };

  return (
    <form
      ref={ref}
      noValidate
      {...props}
      onInput={(event) => draft?.save(event.currentTarget)}
      onSubmit={onSubmit}
      className={cx('grid gap-4', className)}
    >
      <Errors value={fieldErrors}>
        {children}
        <FormError error={rest} />
      </Errors>
    </form>
  );
};

interface FieldProps {
  label: string;
  hint?: ReactNode;
  name: string;
}

const CONTROL =
  'w-full min-w-0 scroll-my-8 rounded-lg border border-line-strong bg-surface px-3 text-base text-ink transition-colors outline-offset-0 hover:border-muted focus-visible:border-brass-line aria-invalid:border-bad max-sm:text-lg';

interface ControlProps {
  id: string;
  name: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

const Labeled = ({
  label,
  hint,
  name,
  children,
}: FieldProps & { children: (control: ControlProps) => ReactNode }) => {
  const id = useId();
  const error = use(Errors)[name];
  const describedBy = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  return (
    <div className="grid min-w-0 content-start gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({ id, name, 'aria-describedby': describedBy, 'aria-invalid': error ? true : undefined })}
      {error ? (
        <p id={`${id}-error`} className="text-sm text-bad">
          {error}
        </p>
      ) : (
        hint && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        )
      )}
    </div>
  );
};

export const TextField = ({
  label,
  hint,
  name,
  className,
  ...props
}: FieldProps & Omit<ComponentProps<'input'>, 'name'>) => (
  <Labeled label={label} hint={hint} name={name}>
    {(control) => <input {...props} {...control} className={cx(CONTROL, 'h-9', className)} />}
  </Labeled>
);

export const TextArea = ({
  label,
  hint,
  name,
  className,
  ...props
}: FieldProps & Omit<ComponentProps<'textarea'>, 'name'>) => (
  <Labeled label={label} hint={hint} name={name}>
    {(control) => <textarea rows={4} {...props} {...control} className={cx(CONTROL, 'py-2', className)} />}
  </Labeled>
);

export const SelectField = ({
  label,
  hint,
  name,
  className,
  children,
  ...props
}: FieldProps & Omit<ComponentProps<'select'>, 'name'>) => (
  <Labeled label={label} hint={hint} name={name}>
    {(control) => (
      <span className="relative block">
        <select {...props} {...control} className={cx(CONTROL, 'h-9 appearance-none pr-9', className)}>
          {children}
        </select>
        <ChevronDown aria-hidden className="pointer-events-none absolute top-2.5 right-3 size-4 text-muted" />
      </span>
    )}
  </Labeled>
);

/** A checkbox or radio button with its label. */
export const Choice = ({
  label,
  hint,
  type = 'checkbox',
  ...props
}: { label: ReactNode; hint?: ReactNode; type?: 'checkbox' | 'radio' } & Omit<
  ComponentProps<'input'>,
  'type'
>) => {
  const id = useId();
  return (
    <div className="flex gap-2.5">
      <input
        {...props}
        id={id}
        type={type}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="mt-0.5 size-4 shrink-0 accent-ink"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="block text-base">
          {label}
        </label>
        {hint && (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
};

export const ChoiceGroup = ({ label, children }: { label: string; children: ReactNode }) => (
  <fieldset className="grid gap-2.5">
    <legend className="mb-2 text-sm font-medium">{label}</legend>
    {children}
  </fieldset>
);
