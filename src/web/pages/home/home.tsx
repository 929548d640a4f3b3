import { Page } from '../../ui/page.tsx';

export const Home = () => <Page title="Home">{null}</Page>;
