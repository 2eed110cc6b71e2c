import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { forgetBlueprints } from '../../api/blueprints.ts'
import { call } from '../../api/request.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/use-draft.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { BlueprintForm, draftOf } from './blueprint-form.tsx'

interface EditBlueprintProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly blueprint: Blueprint
}

export function EditBlueprintDialog({ opened, onClose, blueprint }: EditBlueprintProps) {
  const { draft, set } = useDraft(draftOf(blueprint))
  const submit = async () => {
    await call('PUT', `/blueprints/${blueprint._meta.guid}`, { body: draft })
    await forgetBlueprints()
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={blueprint.name}
      action={blueprintsTexts.save}
      submit={submit}
    >
      <BlueprintForm draft={draft} set={set} />
    </FormDialog>
  )
}
