import { Group, NumberInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { fieldTypeEntries, fieldTypes, isFieldType } from '../../../shared/fields/field-type.ts'
import { storageNamesQuery } from '../../api/storages.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import type { useDraft } from '../../controls/use-draft.ts'
import type { FieldDraft } from './field-draft.ts'
import { FieldExpressionsForm } from './field-expressions-form.tsx'
import { FieldLimitsForm } from './field-limits-form.tsx'
import { FieldPermissionsForm } from './field-permissions-form.tsx'
import { FieldReferenceForm } from './field-reference-form.tsx'
import { FieldUniqueForm } from './field-unique-form.tsx'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

const types = fieldTypes.map((type) => ({ value: type, label: fieldTypeEntries[type].label }))

export function FieldForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  const { data: storages = [] } = useQuery(storageNamesQuery)
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          label="Name"
          description="Use dots for nested fields."
          required
          data-autofocus
          value={draft.name}
          error={error('name')}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
        <Select
          label="Type"
          description="Type of the values."
          data={types}
          allowDeselect={false}
          searchable
          value={draft.type}
          error={error('type')}
          onChange={(type) => set('type', isFieldType(type) ? type : 'string')}
        />
      </Group>
      <Select
        label="Storage"
        description="Storage that has this field. If empty, the rules apply to this field name in every storage."
        data={storages.map(({ name }) => name)}
        clearable
        searchable
        value={draft.storage === '' ? null : draft.storage}
        error={error('storage')}
        onChange={(name) => set('storage', name ?? '')}
      />
      <Group grow align="flex-start">
        <TextInput
          label="Label"
          description="If empty, it is made from the name."
          value={draft.label}
          error={error('label')}
          onChange={(event) => set('label', event.currentTarget.value)}
        />
        <NumberInput
          label="Order"
          description="Fields with smaller numbers come first."
          value={draft.order}
          error={error('order')}
          onChange={(order) => set('order', String(order))}
        />
      </Group>
      <TextInput
        label="Help"
        description="One sentence below the input of a form."
        value={draft.help}
        error={error('help')}
        onChange={(event) => set('help', event.currentTarget.value)}
      />
      <Switch
        label="Required"
        description="Required in new documents; it cannot be set empty."
        checked={draft.required}
        onChange={(event) => set('required', event.currentTarget.checked)}
      />
      <FieldLimitsForm draft={draft} set={set} />
      {draft.computed === '' ? (
        <TextInput
          label="Default"
          description="Default value (JSON) for new documents that leave it out."
          value={draft.defaultValue}
          error={error('default_value')}
          onChange={(event) => set('defaultValue', event.currentTarget.value)}
        />
      ) : null}
      {draft.storage === '' ? null : <FieldExpressionsForm draft={draft} set={set} />}
      {draft.storage !== '' && (draft.type === 'reference' || draft.type === 'string') ? (
        <FieldReferenceForm draft={draft} set={set} />
      ) : null}
      {draft.storage === '' ? null : <FieldUniqueForm draft={draft} set={set} />}
      {draft.storage === '' ? null : <FieldPermissionsForm draft={draft} set={set} />}
      <Textarea
        label="Description"
        description="For builders."
        autosize
        value={draft.description}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
    </>
  )
}
