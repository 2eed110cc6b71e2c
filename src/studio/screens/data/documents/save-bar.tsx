import { Button, Group, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { ApiError } from '../../../api/api-error.ts'
import { queryClient } from '../../../api/query-client.ts'
import { ErrorNotice } from '../../../controls/states.tsx'
import { useShortcut } from '../../../shell/shortcuts.ts'
import { dataTexts } from '../../../texts/data.ts'
import classes from './save-bar.module.css'

interface SaveBarProps {
  readonly isNew: boolean
  /** How many fields would change. */
  readonly changes: number
  readonly isSaving: boolean
  readonly error: unknown
  readonly disabled?: boolean
  readonly onSave: () => void
  readonly onDiscard: () => void
  /** Once the document was read again, after a conflict. */
  readonly onReloaded?: () => void
}

/** What is below an editor: why saving failed, what is not saved, and the buttons. Ctrl+S saves. */
export function SaveBar({
  isNew,
  changes,
  isSaving,
  error,
  disabled = false,
  onSave,
  onDiscard,
  onReloaded,
}: SaveBarProps) {
  const canSave = (isNew || changes > 0) && !disabled && !isSaving
  const isAskedAgain = useRef(false)
  const save = () => {
    if (canSave) onSave()
  }
  useShortcut({ keys: 'mod+s', label: dataTexts.save, group: dataTexts.document, whileTyping: true }, () => {
    // What was typed since is sent when the reply is there.
    if (isSaving) isAskedAgain.current = true
    else save()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the reply is there
  useEffect(() => {
    if (isSaving) return
    if (isAskedAgain.current && !error && !isNew) save()
    isAskedAgain.current = false
  }, [isSaving])
  const isStale = error instanceof ApiError && error.code === 'CONFLICT' && !isNew
  return (
    <div className={classes.bar}>
      <ErrorNotice
        error={error}
        title={isStale ? dataTexts.conflict : dataTexts.notSaved}
        onRetry={
          isStale
            ? () => queryClient.invalidateQueries({ queryKey: ['documents'] }).then(onReloaded)
            : undefined
        }
      />
      {isStale ? (
        <Text size="sm" c="dimmed">
          {dataTexts.conflictText}
        </Text>
      ) : null}
      <Group gap="sm" mt={error ? 'sm' : 0}>
        <Button onClick={onSave} loading={isSaving} disabled={!canSave}>
          {isNew ? dataTexts.create : dataTexts.save}
        </Button>
        <Button variant="default" onClick={onDiscard} disabled={changes === 0 || isSaving}>
          {dataTexts.discard}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {dataTexts.fieldsChanged(changes)}
        </Text>
      </Group>
    </div>
  )
}
