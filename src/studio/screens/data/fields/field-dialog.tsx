import { useQuery } from '@tanstack/react-query'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { useDraft } from '../../../controls/use-draft.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import { bodyOfField, draftOfField, type FieldDraft, newField } from './field-draft.ts'
import { FieldForm } from './field-form.tsx'

interface FieldDialogProps {
  /** Of the field; `new`, or empty for none. */
  readonly guid: string
  /** What a new field begins with. */
  readonly begin?: Partial<FieldDraft>
  readonly onClose: () => void
}

export function FieldDialog({ guid, begin, onClose }: FieldDialogProps) {
  const isNew = guid === 'new'
  const { data } = useQuery({
    queryKey: ['fields', 'one', guid],
    queryFn: ({ signal }) => call<FieldRecord>('GET', `/blueprintfields/${guid}`, { signal }),
    enabled: guid !== '' && !isNew,
  })
  if (isNew) return <Opened initial={{ ...newField, ...begin }} guid="" onClose={onClose} />
  return data ? <Opened key={guid} initial={draftOfField(data)} guid={guid} onClose={onClose} /> : null
}

interface OpenedProps {
  readonly initial: FieldDraft
  readonly guid: string
  readonly onClose: () => void
}

function Opened({ initial, guid, onClose }: OpenedProps) {
  const { draft, set } = useDraft(initial)
  const submit = async () => {
    const body = bodyOfField(draft)
    if (guid === '') await call('POST', '/blueprintfields', { body })
    else await call('PUT', `/blueprintfields/${guid}`, { body })
    await queryClient.invalidateQueries({ queryKey: ['fields'] })
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={guid === '' ? fieldsTexts.newField : initial.name}
      action={guid === '' ? fieldsTexts.create : fieldsTexts.save}
      submit={submit}
      size="lg"
    >
      <FieldForm draft={draft} set={set} />
    </FormDialog>
  )
}
