import { Switch, TextInput } from '@mantine/core'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { useDraft } from '../../../controls/use-draft.ts'
import { gridTexts } from '../../../texts/grid.ts'

interface SaveViewProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly submit: (fields: { readonly name: string; readonly shared: boolean }) => Promise<unknown>
}

const newView = { name: '', shared: false }

export function SaveViewDialog({ opened, onClose, submit }: SaveViewProps) {
  const form = useDraft(newView)
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={gridTexts.saveNewView}
      action={gridTexts.save}
      submit={() => submit(form.draft)}
    >
      <Fields {...form} />
    </FormDialog>
  )
}

function Fields({ draft, set }: ReturnType<typeof useDraft<typeof newView>>) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={gridTexts.name}
        required
        data-autofocus
        value={draft.name}
        error={error('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <Switch
        label={gridTexts.shared}
        description={gridTexts.sharedHelp}
        checked={draft.shared}
        onChange={(event) => set('shared', event.currentTarget.checked)}
      />
    </>
  )
}
