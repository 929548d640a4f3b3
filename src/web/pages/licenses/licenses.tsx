import { Page } from '../../ui/page.tsx';

export const Licenses = () => <Page title="Licenses">{null}</Page>;
