import { Button, Group } from '@mantine/core'
import { gridTexts } from '../../../texts/grid.ts'
import classes from './grid.module.css'

interface CellProblemProps {
  readonly id: string
  readonly message: string
  readonly onEdit: () => void
  readonly onDiscard: () => void
}

/** At the cell: why what was typed is not stored. It keeps what was typed. */
export function CellProblem({ id, message, onEdit, onDiscard }: CellProblemProps) {
  return (
    <div className={classes.problem} id={id} role="alert">
      {message}
      <Group gap="xs" mt={6}>
        <Button size="compact-xs" variant="default" tabIndex={-1} onClick={onEdit}>
          {gridTexts.editEnter}
        </Button>
        <Button size="compact-xs" variant="default" tabIndex={-1} onClick={onDiscard}>
          {gridTexts.discardEsc}
        </Button>
      </Group>
    </div>
  )
}
