import { NumberInput, Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Group } from '../../../shared/api/people/users.ts'
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
  const { name, description, scopes, is_active, second_factor_days } = group ?? {
    name: '',
    description: '',
    scopes: [],
    is_active: true,
    second_factor_days: null,
  }
  const form = useDraft<GroupDraft>({ name, description, scopes, is_active, second_factor_days })
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

type GroupDraft = Pick<Group, 'name' | 'description' | 'scopes' | 'is_active' | 'second_factor_days'>
type Draft = ReturnType<typeof useDraft<GroupDraft>>

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
      <NumberInput
        label={peopleTexts.factorDays}
        description={peopleTexts.factorDaysHelp}
        min={0}
        max={90}
        allowDecimal={false}
        value={draft.second_factor_days ?? ''}
        error={error('second_factor_days')}
        onChange={(days) => set('second_factor_days', typeof days === 'number' ? days : null)}
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
