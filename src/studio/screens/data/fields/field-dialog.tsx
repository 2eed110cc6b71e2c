import { useState } from 'react'
import type { CheckedField, FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { changesOf, saveChanges } from '../../../api/save-changes.ts'
import { FormDialog, ReadForm } from '../../../controls/form-dialog.tsx'
import { stayOpen, useDraft } from '../../../controls/hooks.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import { bodyOfField, draftOfField, type FieldDraft, newField } from './field-draft.ts'
import { FieldForm } from './field-form.tsx'
import { misfitsOf, noMisfitChoice, StoredChange } from './stored-change.tsx'

interface FieldDialogProps {
  /** Of the field; `new`, or empty for none. */
  readonly guid: string
  /** What a new field begins with. */
  readonly begin?: Partial<FieldDraft>
  readonly onClose: () => void
}

export function FieldDialog({ guid, begin, onClose }: FieldDialogProps) {
  return (
    <ReadForm guid={guid} queryKey={['fields', 'one']} load={readField} onClose={onClose}>
      {(field) => (
        <Opened
          initial={field ? draftOfField(field) : { ...newField, ...begin }}
          guid={field ? guid : ''}
          onClose={onClose}
        />
      )}
    </ReadForm>
  )
}

function readField(guid: string, signal: AbortSignal): Promise<FieldRecord> {
  return call('GET', `/blueprintfields/${guid}`, { signal })
}

interface OpenedProps {
  readonly initial: FieldDraft
  readonly guid: string
  readonly onClose: () => void
}

function Opened({ initial, guid, onClose }: OpenedProps) {
  const { draft, shown, set } = useDraft(initial)
  /** Of the draft as it is: what changes is checked again. */
  const [asked, ask] = useState<{ readonly draft: FieldDraft; readonly checked: CheckedField }>()
  const [choice, choose] = useState(noMisfitChoice)
  const checked = asked?.draft === draft ? asked.checked : undefined
  const renamedTo = draft.name === initial.name ? undefined : draft.name
  const submit = async () => {
    const body = bodyOfField(draft)
    if (guid === '') await call('POST', '/blueprintfields', { body })
    else {
      const before = bodyOfField(shown)
      const { changes } = changesOf(body, before, before)
      const found =
        checked ?? (await call<CheckedField>('POST', `/blueprintfields/${guid}/check`, { body: changes }))
      if (!checked && concerns(found, renamedTo)) {
        ask({ draft, checked: found })
        return stayOpen
      }
      const misfits = found.misfits.total > 0 ? misfitsOf(choice) : {}
      await saveChanges<FieldRecord>(`/blueprintfields/${guid}`, body, before, {
        shownOf: (stored) => bodyOfField(draftOfField(stored)),
        bodyOf: (merged) => ({ ...merged, ...misfits }),
      })
    }
    await queryClient.invalidateQueries({ queryKey: ['fields'] })
    return undefined
  }
  const action = renamedTo === undefined ? fieldsTexts.saveAndConvert : fieldsTexts.saveAndMove
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={guid === '' ? fieldsTexts.newField : initial.name}
      action={guid === '' ? fieldsTexts.create : checked ? action : fieldsTexts.save}
      submit={submit}
      size="lg"
    >
      <FieldForm draft={draft} set={set} />
      {checked ? (
        <StoredChange checked={checked} renamedTo={renamedTo} choice={choice} choose={choose} />
      ) : null}
    </FormDialog>
  )
}

/** Whether stored values change, or keep the field from changing. */
function concerns({ documents, converted, misfits }: CheckedField, renamedTo: string | undefined): boolean {
  return converted > 0 || misfits.total > 0 || (renamedTo !== undefined && documents > 0)
}
