import { ChevronRight, FileKey } from 'lucide-react';
import { useState } from 'react';
import type { LicenseBody } from '../../data/queries.ts';
import { readPreference, writePreference } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader, Fact, Facts } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { Time } from '../../ui/time.tsx';
import { InApplication } from '../products/in-application.tsx';
import { LicenseMetadata } from './license-metadata.tsx';
import { OfflineFile } from './offline-file.tsx';
import { TryIt } from './try-it.tsx';

const OPEN = 'developer-tools';

const Record = ({ license }: { license: LicenseBody }) => (
  <Card>
    <CardHeader title="Record" />
    <div className="border-t border-line pb-1">
      <Facts>
        <Fact name="ID">
          <Copyable text={license.id} what="ID">
            <code className="text-xs">{license.id}</code>
          </Copyable>
        </Fact>
        <Fact name="Created">
          <Time at={license.created_at} />
        </Fact>
        <Fact name="Updated">
          <Time at={license.updated_at} />
        </Fact>
      </Facts>
    </div>
  </Card>
);

const OfflineFileCard = ({ license }: { license: LicenseBody }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card>
      <CardHeader
        title="Offline file"
        hint="Lets the application run on a machine without a network. The machine takes a seat until the file expires."
        actions={
          <Button size="sm" onClick={() => setOpen(true)}>
            <FileKey aria-hidden />
            Create offline file
          </Button>
        }
      />
      <OfflineFile license={license} isOpen={isOpen} onClose={() => setOpen(false)} />
    </Card>
  );
};

/** What support seldom needs. Once it is opened, it stays open on the pages of other licenses. */
export const DeveloperTools = ({ license }: { license: LicenseBody }) => {
  const [isOpen, setOpen] = useState(() => readPreference(OPEN) === 'open');
  const toggle = () => {
    writePreference(OPEN, isOpen ? 'closed' : 'open');
    setOpen(!isOpen);
  };
  return (
    <section aria-label="For developers" className="grid grid-cols-[minmax(0,1fr)] gap-5 xl:col-span-2">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={toggle}
        className="flex min-h-11 items-center gap-2 rounded-xl border border-line px-5 py-2 text-left hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={`size-4 shrink-0 text-muted transition-transform ${isOpen ? 'rotate-90' : ''}`}
        />
        <span className="font-medium">For developers</span>
        <span className="text-sm text-muted max-sm:hidden">
          Metadata, ID, offline file, calls to try, and code for your application
        </span>
      </button>
      {isOpen && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-2">
          <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
            <LicenseMetadata license={license} />
            <Record license={license} />
            <OfflineFileCard license={license} />
            <InApplication product={license.product} licenseKey={license.license_key} />
          </div>
          <TryIt licenseKey={license.license_key} />
        </div>
      )}
    </section>
  );
};
