import { Button } from '@mantine/core'
import { Icon } from '../../../controls/icon.tsx'
import type { Undo } from './use-undo.ts'

/** Takes back the last thing that was done here; nothing while there is none. */
export function UndoAction({ undo }: { readonly undo: Undo }) {
  if (undo.next === undefined) return null
  return (
    <Button
      variant="default"
      leftSection={<Icon name="restore" size={16} />}
      loading={undo.isRunning}
      aria-label={`Undo the ${undo.next}`}
      title={`Undo the ${undo.next} (Ctrl Z)`}
      onClick={undo.run}
    >
      Undo
    </Button>
  )
}
