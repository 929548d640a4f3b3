import { useState } from 'react';
import { readPreference, writePreference } from '../../data/session.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { StepRow } from './step-row.tsx';

const PREFERENCE = 'connect-store';

interface ConnectStoreProps {
  isOpen: boolean;
  onOpen: () => void;
  onDismissed: () => void;
}

/** Offers to connect a store. A seller who has none can skip or dismiss the offer. */
export const ConnectStore = ({ isOpen, onOpen, onDismissed }: ConnectStoreProps) => {
  const [isDismissed, setDismissed] = useState(() => readPreference(PREFERENCE) === 'dismissed');
  const dismiss = () => {
    writePreference(PREFERENCE, 'dismissed');
    setDismissed(true);
    onDismissed();
  };
  if (isDismissed) return null;
  return (
    <StepRow title="Connect your store" isOptional isOpen={isOpen} onOpen={onOpen}>
      <p>
        Do you sell with Stripe, Paddle, Lemon Squeezy, Polar, Gumroad, FastSpring, WooCommerce, or in a shop
        of your own? Then each purchase there creates its licenses and emails the key to the buyer.
      </p>
      <div className="flex flex-wrap gap-2">
        <ButtonLink to="/stores" search={{ create: true }} variant="solid" size="sm">
          Add a store
        </ButtonLink>
        <Button size="sm" onClick={dismiss}>
          I don’t need a store
        </Button>
      </div>
    </StepRow>
  );
};
