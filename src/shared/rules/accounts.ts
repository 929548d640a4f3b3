export const MAX_EMAIL_LENGTH = 254;
export const MIN_PASSWORD_LENGTH = 10;
export const MAX_PASSWORD_LENGTH = 256;
export const MAX_NAME_LENGTH = 200;
export const MAX_ALLOWED_ORIGINS = 20;
