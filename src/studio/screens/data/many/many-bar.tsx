import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { confirm } from '../../../controls/confirm.ts'
import { Icon } from '../../../controls/icon.tsx'
import { notifyDone } from '../../../controls/notify.ts'
import { gridTexts } from '../../../texts/grid.ts'
import type { GridColumn } from '../grid/grid-column.ts'
import type { RowSelection } from '../grid/use-row-selection.ts'
import type { UndoStep } from '../undo/undo-step.ts'
import { ChangeManyDialog } from './change-many-dialog.tsx'
import { JobProgress } from './job-progress.tsx'
import { AT_ONCE, changeMany, type ManyWay, type SelectedDocuments } from './many-documents.ts'

interface ManyBarProps {
  readonly selection: RowSelection
  readonly selected: SelectedDocuments
  /** How many the list has in all. */
  readonly total: number
  readonly columns: readonly GridColumn[]
  /** The list shows removed documents: they can only be deleted. */
  readonly removed: boolean
  readonly onDone: (step: UndoStep) => void
}

/** What can be done with the selected rows. */
export function ManyBar({ selection, selected, total, columns, removed, onDone }: ManyBarProps) {
  const [isChanging, change] = useDisclosure(false)
  const [job, setJob] = useState('')
  const { count } = selected
  const run = async (way: ManyWay, done: string) => {
    const { changed, step } = await changeMany(selected, way)
    selection.clear()
    if (step) onDone(step)
    if (changed.job === null) notifyDone(`${counted(changed.count)} ${done}`)
    else setJob(changed.job)
  }
  const remove = () =>
    confirm({
      title: removed ? gridTexts.deletePermanently(counted(count)) : gridTexts.remove(counted(count)),
      text: removed ? gridTexts.deleteManyText : gridTexts.removeManyText(atOnce(count, selection.isAll)),
      action: removed ? gridTexts.deletePermanentlyLabel : gridTexts.removeLabel,
      ...(removed || count <= AT_ONCE ? {} : { type: String(count) }),
      run: () => run({ way: 'remove', hard: removed }, removed ? 'deleted' : 'removed'),
    })
  return (
    <>
      {job === '' ? null : <JobProgress job={job} storage={selected.storage} onClose={() => setJob('')} />}
      {count === 0 ? null : (
        <Group mb="sm" gap="sm" role="toolbar" aria-label={gridTexts.selectedDocuments}>
          <Text size="sm" fw={550} role="status">
            {gridTexts.selected(counted(count))}
          </Text>
          {selection.here === 'all' && !selection.isAll && total > selection.guids.size ? (
            <Button size="compact-sm" variant="subtle" onClick={selection.selectAll}>
              {gridTexts.selectAll(total.toLocaleString())}
            </Button>
          ) : null}
          {removed ? null : (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Icon name="edit" size={14} />}
              onClick={change.open}
            >
              {gridTexts.changeAField}
            </Button>
          )}
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="trash" size={14} />}
            onClick={remove}
          >
            {removed ? gridTexts.deletePermanentlyLabel : gridTexts.removeLabel}
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
            {gridTexts.clearSelection}
          </Button>
        </Group>
      )}
      <ChangeManyDialog
        opened={isChanging}
        onClose={change.close}
        title={gridTexts.changeAFieldOf(counted(count))}
        about={atOnce(count, selection.isAll)}
        columns={columns.filter(({ readOnly }) => !readOnly)}
        submit={(name, value) => run({ way: 'update', set: { [name]: value } }, 'changed')}
      />
    </>
  )
}

function counted(count: number): string {
  return gridTexts.documentCount(count, count.toLocaleString())
}

function atOnce(count: number, isAll: boolean): string {
  return isAll && count > AT_ONCE ? gridTexts.asJobText : gridTexts.atOnceText
}
