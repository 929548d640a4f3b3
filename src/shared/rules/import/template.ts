import { toCsvRecord } from '../csv.ts';

const ROWS = [
  [
    'license_key',
    'customer_email',
    'customer_name',
    'product',
    'status',
    'created_at',
    'expires_at',
    'metadata.order',
  ],
  ['ORRERY-0001', 'ada@example.com', 'Ada Lovelace', 'orrery', 'active', '2024-06-01', '2027-05-31', '1001'],
  ['ORRERY-0002', 'grace@example.com', 'Grace Hopper', 'orrery', 'suspended', '2024-06-02', 'never', '1002'],
];

/** A file to fill in. */
export const TEMPLATE = ROWS.map((cells) => `${toCsvRecord(cells)}\r\n`).join('');
