import { Button } from '@mantine/core'
import { Icon } from '../../../controls/icon.tsx'
import { gridTexts } from '../../../texts/grid.ts'
import type { Undo } from './use-undo.ts'

/** Takes back the last thing that was done here; nothing while there is none. */
export function UndoAction({ undo }: { readonly undo: Undo }) {
  if (undo.next === undefined) return null
  return (
    <Button
      variant="default"
      leftSection={<Icon name="restore" size={16} />}
      loading={undo.isRunning}
      aria-label={gridTexts.undoStep(undo.next)}
      title={gridTexts.undoStepKey(undo.next)}
      onClick={undo.run}
    >
      {gridTexts.undo}
    </Button>
  )
}
