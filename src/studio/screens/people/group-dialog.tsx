import { Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Group } from '../../../shared/api/people/authentication-groups.ts'
import { forgetPeople, readGroup } from '../../api/people.ts'
import { call } from '../../api/request.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/use-draft.ts'
import { peopleTexts } from '../../texts/people.ts'
import { ScopeInput } from './scope-input.tsx'

interface GroupDialogProps {
  /** Of the group; `new`, or empty for none. */
  readonly guid: string
  readonly onClose: () => void
}

export function GroupDialog({ guid, onClose }: GroupDialogProps) {
  const isNew = guid === 'new'
  const { data } = useQuery({
    queryKey: ['people', 'groups', 'one', guid],
    queryFn: ({ signal }) => readGroup(guid, signal),
    enabled: guid !== '' && !isNew,
  })
  if (isNew) return <Opened onClose={onClose} />
  return data && guid !== '' ? <Opened key={guid} group={data} onClose={onClose} /> : null
}

function Opened({ group, onClose }: { readonly group?: Group; readonly onClose: () => void }) {
  const { name, description, scopes, is_active } = group ?? {
    name: '',
    description: '',
    scopes: [],
    is_active: true,
  }
  const form = useDraft({ name, description, scopes, is_active })
  const submit = async () => {
    if (group) await call('PUT', `/_system/authentication-groups/${group._meta.guid}`, { body: form.draft })
    else await call('POST', '/_system/authentication-groups', { body: form.draft })
    await forgetPeople()
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={group ? group.name : peopleTexts.newGroup}
      action={group ? peopleTexts.save : peopleTexts.create}
      submit={submit}
    >
      <Fields form={form} />
    </FormDialog>
  )
}

type Draft = ReturnType<typeof useDraft<Pick<Group, 'name' | 'description' | 'scopes' | 'is_active'>>>

function Fields({ form: { draft, set } }: { readonly form: Draft }) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={peopleTexts.name}
        required
        data-autofocus
        value={draft.name}
        error={error('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <Textarea
        label={peopleTexts.description}
        autosize
        value={draft.description}
        error={error('description')}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
      <ScopeInput
        label={peopleTexts.scopes}
        description={peopleTexts.groupScopesHelp}
        value={draft.scopes}
        error={error('scopes')}
        onChange={(scopes) => set('scopes', scopes)}
      />
      <Switch
        label={peopleTexts.active}
        description={peopleTexts.activeHelp}
        checked={draft.is_active}
        onChange={(event) => set('is_active', event.currentTarget.checked)}
      />
    </>
  )
}
