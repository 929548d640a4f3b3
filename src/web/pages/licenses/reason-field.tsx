import type { ComponentProps } from 'react';
import { MAX_REASON_LENGTH } from '../../../shared/rules/licenses.ts';
import { TextField } from '../../ui/form.tsx';

/** Why a license is suspended, reinstated, or revoked. */
export const ReasonField = (props: Pick<ComponentProps<typeof TextField>, 'value' | 'onChange'>) => (
  <TextField
    label="Reason"
    name="reason"
    hint="Optional. For the license’s history and the event. Your customer doesn’t see it."
    maxLength={MAX_REASON_LENGTH}
    {...props}
  />
);
