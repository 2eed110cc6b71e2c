import { Switch, Textarea, TextInput } from '@mantine/core'
import { useLocation } from 'wouter'
import type { StorageRecord } from '../../../shared/api/data/storages.ts'
import { call } from '../../api/request.ts'
import { saveChanges } from '../../api/save-changes.ts'
import { forgetStorages } from '../../api/storages.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { dataTexts } from '../../texts/data.ts'
import { storageName } from './storage-name.ts'

interface StorageDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** The storage to change; none: a new one. */
  readonly storage?: StorageRecord
}

const newStorage = { name: '', description: '', history: true, closed: false }

export function StorageDialog({ opened, onClose, storage }: StorageDialogProps) {
  const { name, description, history, closed } = storage ?? newStorage
  const [, go] = useLocation()
  const form = useDraft({ name, description, history, closed })
  const submit = async () => {
    const { name: label, ...rest } = form.draft
    const newName = storageName(label) || label
    if (storage) await saveChanges(`/_system/storages/${storage._meta.guid}`, rest, form.shown)
    else {
      const made = await call<StorageRecord>('POST', '/_system/storages', {
        // What a person calls it is not lost where the name could not be the same.
        body: { ...rest, name: newName, description: rest.description || (newName === label ? '' : label) },
      })
      go(`/data/storages/${made._meta.guid}?tab=fields`)
    }
    await forgetStorages()
    form.saved(form.draft)
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={storage ? storage.name : dataTexts.newStorage}
      action={storage ? dataTexts.save : dataTexts.create}
      submit={submit}
    >
      <Fields form={form} isNew={storage === undefined} />
    </FormDialog>
  )
}

interface FieldsProps {
  readonly form: ReturnType<typeof useDraft<typeof newStorage>>
  readonly isNew: boolean
}

function Fields({ form: { draft, set }, isNew }: FieldsProps) {
  const error = useFieldError()
  const made = storageName(draft.name)
  const isOther = made !== '' && made !== draft.name
  return (
    <>
      {isNew ? (
        <TextInput
          label={dataTexts.name}
          description={isOther ? dataTexts.storedAs(made) : dataTexts.nameHelp}
          required
          data-autofocus
          value={draft.name}
          error={error('name')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
      ) : null}
      <Textarea
        label={dataTexts.description}
        autosize
        minRows={2}
        value={draft.description}
        error={error('description')}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
      <Switch
        label={dataTexts.keepHistory}
        description={dataTexts.keepHistoryHelp}
        checked={draft.history}
        onChange={(event) => set('history', event.currentTarget.checked)}
      />
      <Switch
        label={dataTexts.closed}
        description={dataTexts.closedHelp}
        checked={draft.closed}
        onChange={(event) => set('closed', event.currentTarget.checked)}
      />
    </>
  )
}
