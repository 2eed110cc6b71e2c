import { Anchor } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { forgetBlueprints } from '../../api/blueprints.ts'
import { call } from '../../api/request.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/use-draft.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { BlueprintForm, emptyBlueprint } from './blueprint-form.tsx'

interface CreateBlueprintProps {
  readonly opened: boolean
  readonly onClose: () => void
}

/** Makes an empty blueprint and opens it. */
export function CreateBlueprintDialog({ opened, onClose }: CreateBlueprintProps) {
  const [, go] = useLocation()
  const { draft, set, reset } = useDraft(emptyBlueprint)
  const submit = async () => {
    const made = await call<Blueprint>('POST', '/blueprints', { body: draft })
    reset(emptyBlueprint)
    await forgetBlueprints()
    go(`/blueprints/${made._meta.guid}`)
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={blueprintsTexts.newBlueprint}
      action={blueprintsTexts.createAndOpen}
      submit={submit}
    >
      <BlueprintForm draft={draft} set={set} />
      <Anchor component={Link} href="/welcome" size="sm">
        {blueprintsTexts.noBlueprintsYetText}
      </Anchor>
    </FormDialog>
  )
}
