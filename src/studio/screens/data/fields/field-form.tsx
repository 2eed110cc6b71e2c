import { Group, NumberInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { storageNamesQuery } from '../../../api/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { useDraft } from '../../../controls/use-draft.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'
import { FieldExpressionsForm } from './field-expressions-form.tsx'
import { FieldKindSelect } from './field-kind-select.tsx'
import { FieldLimitsForm } from './field-limits-form.tsx'
import { FieldPermissionsForm } from './field-permissions-form.tsx'
import { FieldReferenceForm } from './field-reference-form.tsx'
import { FieldUniqueForm } from './field-unique-form.tsx'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

export function FieldForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  const { data: storages = [] } = useQuery(storageNamesQuery)
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          label={fieldsTexts.name}
          description={fieldsTexts.nameHelp}
          required
          data-autofocus
          value={draft.name}
          error={error('name')}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
        <FieldKindSelect
          label={fieldsTexts.type}
          description={fieldsTexts.typeHelp}
          draft={draft}
          error={error('type')}
          onChange={({ type, currency }) => {
            set('type', type)
            set('currency', currency)
          }}
        />
      </Group>
      <Select
        label={fieldsTexts.storage}
        description={fieldsTexts.storageHelp}
        data={storages.map(({ name }) => name)}
        clearable
        searchable
        value={draft.storage === '' ? null : draft.storage}
        error={error('storage')}
        onChange={(name) => set('storage', name ?? '')}
      />
      <Group grow align="flex-start">
        <TextInput
          label={fieldsTexts.label}
          description={fieldsTexts.labelHelp}
          value={draft.label}
          error={error('label')}
          onChange={(event) => set('label', event.currentTarget.value)}
        />
        <NumberInput
          label={fieldsTexts.order}
          description={fieldsTexts.orderHelp}
          value={draft.order}
          error={error('order')}
          onChange={(order) => set('order', String(order))}
        />
      </Group>
      <TextInput
        label={fieldsTexts.help}
        description={fieldsTexts.helpHelp}
        value={draft.help}
        error={error('help')}
        onChange={(event) => set('help', event.currentTarget.value)}
      />
      <Switch
        label={fieldsTexts.required}
        description={fieldsTexts.requiredHelp}
        checked={draft.required}
        onChange={(event) => set('required', event.currentTarget.checked)}
      />
      <FieldLimitsForm draft={draft} set={set} />
      {draft.computed === '' ? (
        <TextInput
          label={fieldsTexts.default}
          description={fieldsTexts.defaultHelp}
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
        label={fieldsTexts.description}
        description={fieldsTexts.forBuilders}
        autosize
        value={draft.description}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
    </>
  )
}
