import * as z from 'zod';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../shared/rules/accounts.ts';

export const newPassword = z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH);

/** A password to check. Its length says nothing about whether it's right. */
export const currentPassword = z.string().max(1_024);
