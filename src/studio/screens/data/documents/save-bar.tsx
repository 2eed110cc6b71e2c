import { Button, Group, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { ApiError } from '../../../api/api-error.ts'
import { queryClient } from '../../../api/query-client.ts'
import { ErrorNotice } from '../../../controls/states.tsx'
import { useShortcut } from '../../../shell/shortcuts.ts'
import { dataTexts } from '../../../texts/data.ts'
import { valueAt } from './document-shape.ts'
import classes from './save-bar.module.css'
import type { DocumentChanges, useDocumentSave } from './use-document-save.ts'

interface SaveBarProps {
  /** None: a new one. */
  readonly document: Document | undefined
  readonly changes: DocumentChanges
  readonly save: Pick<ReturnType<typeof useDocumentSave>, 'isPending' | 'error' | 'reset'>
  readonly isBroken: boolean
  readonly onSave: () => void
  readonly onDiscard: () => void
  /** Once the document was read again, after a conflict. */
  readonly onReloaded: () => void
}

/** What is below an editor: what others have changed, why saving failed, what is not saved, and the buttons. Ctrl+S saves. */
export function SaveBar({ document, changes, save: request, isBroken, ...does }: SaveBarProps) {
  const { isPending: isSaving, error } = request
  const isNew = document === undefined
  const count = Object.keys(changes.fields).length
  const canSave = (isNew || count > 0) && !isBroken && !isSaving
  const isAskedAgain = useRef(false)
  const save = () => {
    if (canSave) does.onSave()
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
      <Affected changes={changes} document={document} />
      <ErrorNotice
        error={error}
        title={isStale ? dataTexts.conflict : dataTexts.notSaved}
        onRetry={
          isStale
            ? () => queryClient.invalidateQueries({ queryKey: ['documents'] }).then(does.onReloaded)
            : undefined
        }
      />
      {isStale ? (
        <Text size="sm" c="dimmed">
          {dataTexts.conflictText}
        </Text>
      ) : null}
      <Group gap="sm" mt={error ? 'sm' : 0}>
        <Button onClick={does.onSave} loading={isSaving} disabled={!canSave}>
          {isNew ? dataTexts.create : dataTexts.save}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            does.onDiscard()
            request.reset()
          }}
          disabled={count === 0 || isSaving}
        >
          {dataTexts.discard}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {dataTexts.fieldsChanged(count)}
        </Text>
      </Group>
    </div>
  )
}

function Affected({ changes: { lost, disputed }, document }: Pick<SaveBarProps, 'changes' | 'document'>) {
  return (
    <>
      {lost.length > 0 ? (
        <Text size="sm" c="dimmed">
          {dataTexts.lostFields(lost.join(', '))}
        </Text>
      ) : null}
      {disputed.length > 0 ? (
        <Text size="sm" c="red">
          {dataTexts.disputedFields(disputed.map((name) => disputedText(name, document)).join(', '))}
        </Text>
      ) : null}
    </>
  )
}

/** So many characters of what another user has written. */
const MOST_SHOWN = 80

function disputedText(name: string, document: Document | undefined): string {
  const text = JSON.stringify(valueAt(document ?? {}, name) ?? null)
  return dataTexts.disputedField(name, text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)
}
