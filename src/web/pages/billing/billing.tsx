import { Page } from '../../ui/page.tsx';

export const BillingPage = () => <Page title="BillingPage">{null}</Page>;
