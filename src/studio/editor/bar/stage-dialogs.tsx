import { ConflictDialog } from './conflict-dialog.tsx'
import { DeployDialog } from './deploy-dialog.tsx'
import { DiffersDialog } from './differs-dialog.tsx'
import { DiscardDialog } from './discard-dialog.tsx'
import { ExplainDialog } from './explain-dialog.tsx'
import { VersionsDialog } from './versions-dialog.tsx'

/** The dialogs of the bar. They are fetched together, when what one sees first stands. */
export function StageDialogs() {
  return (
    <>
      <DeployDialog />
      <DiscardDialog />
      <VersionsDialog />
      <DiffersDialog />
      <ExplainDialog />
      <ConflictDialog />
    </>
  )
}
