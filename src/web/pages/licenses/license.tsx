import { Page } from '../../ui/page.tsx';

export const LicensePage = () => <Page title="LicensePage">{null}</Page>;
