import { Group, NumberInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { onDeletes } from '../../../../shared/field-rule.ts'
import { currencyOf } from '../../../../shared/fields/currencies.ts'
import { storageNamesQuery } from '../../../api/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import type { useDraft } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { FieldDraft } from './field-draft.ts'
import { fieldKinds, findKinds, isFieldKind, kindIcon, kindLabel, kindOf, typeOfKind } from './field-kinds.ts'
import { FieldLimitsForm } from './field-limits-form.tsx'
import { RefersToInput } from './needed-inputs.tsx'

const words = {
  refuse: fieldsTexts.onRemoveRefuse,
  clear: fieldsTexts.onRemoveClear,
  delete: fieldsTexts.onRemoveDelete,
} as const

/** Which storage's documents the field holds, and what happens when one of them is removed. */
function FieldReferenceForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  return (
    <Group grow align="flex-start">
      <RefersToInput draft={draft} set={set} description={fieldsTexts.refersToHelp} />
      {draft.refersTo === '' ? null : (
        <Select
          label={fieldsTexts.whenDocumentRemoved}
          description={fieldsTexts.whenDocumentRemovedHelp}
          data={onDeletes.map((value) => ({ value, label: words[value] }))}
          allowDeselect={false}
          value={draft.onDelete}
          onChange={(way) => set('onDelete', onDeletes.find((one) => one === way) ?? 'refuse')}
        />
      )}
    </Group>
  )
}

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

/** A field has one of default, default expression and computed: what cannot be chosen beside another one is not shown. */
function FieldExpressionsForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  const { defaultValue, defaultExpression, computed } = draft
  return (
    <>
      {defaultValue === '' && computed === '' ? (
        <TextInput
          label={fieldsTexts.defaultExpression}
          description={fieldsTexts.defaultExpressionHelp}
          value={defaultExpression}
          error={error('default_expression')}
          onChange={(event) => set('defaultExpression', event.currentTarget.value)}
        />
      ) : null}
      {defaultValue === '' && defaultExpression === '' ? (
        <TextInput
          label={fieldsTexts.computedAs}
          description={fieldsTexts.computedAsHelp}
          value={computed}
          error={error('computed')}
          onChange={(event) => set('computed', event.currentTarget.value)}
        />
      ) : null}
    </>
  )
}

/** Who sees the field, and who may set it. */
function FieldPermissionsForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={fieldsTexts.visibleTo}
        description={fieldsTexts.visibleToHelp}
        spellCheck={false}
        value={draft.visibleTo}
        error={error('visible_to')}
        onChange={(event) => set('visibleTo', event.currentTarget.value)}
      />
      <TextInput
        label={fieldsTexts.settableBy}
        description={fieldsTexts.settableByHelp}
        spellCheck={false}
        value={draft.settableBy}
        error={error('settable_by')}
        onChange={(event) => set('settableBy', event.currentTarget.value)}
      />
    </>
  )
}

/** Whether two documents may hold the same value. */
function FieldUniqueForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  return (
    <>
      <Switch
        label={fieldsTexts.unique}
        description={fieldsTexts.uniqueHelp}
        checked={draft.unique}
        error={error('unique')}
        onChange={(event) => set('unique', event.currentTarget.checked)}
      />
      {draft.unique ? (
        <>
          <TextInput
            label={fieldsTexts.uniqueTogetherAs}
            description={fieldsTexts.uniqueTogetherAsHelp}
            value={draft.uniqueWith}
            onChange={(event) => set('uniqueWith', event.currentTarget.value)}
          />
          <Group>
            <Switch
              label={fieldsTexts.ignoreCase}
              checked={draft.ignoreCase}
              onChange={(event) => set('ignoreCase', event.currentTarget.checked)}
            />
            <Switch
              label={fieldsTexts.ignoreAccents}
              checked={draft.ignoreAccents}
              onChange={(event) => set('ignoreAccents', event.currentTarget.checked)}
            />
          </Group>
        </>
      ) : null}
    </>
  )
}

interface FieldKindSelectProps {
  readonly label: string
  readonly description?: string
  readonly error?: string | undefined
  readonly draft: Pick<FieldDraft, 'type' | 'currency'>
  /** Of other amounts of the storage. */
  readonly usualCurrency?: string | undefined
  readonly onChange: (typed: Pick<FieldDraft, 'type' | 'currency'>) => void
}

const options = fieldKinds.map((kind) => ({ value: kind, label: kindLabel(kind) }))

/** One list of all types, with their pictures, in which people type what they look for. */
export function FieldKindSelect({ draft, usualCurrency, onChange, ...shown }: FieldKindSelectProps) {
  const kind = kindOf(draft)
  const [usual] = useState(() => usualCurrency ?? currencyOf(navigator.language))
  return (
    <Select
      {...shown}
      data={options}
      searchable
      maxDropdownHeight={320}
      filter={({ search }) =>
        findKinds(search).map((one) => ({ value: one, label: kindLabel(one), disabled: false }))
      }
      leftSection={<Icon name={kindIcon(kind)} size={16} />}
      renderOption={({ option }) => (
        <Group gap="xs" wrap="nowrap">
          {isFieldKind(option.value) ? <Icon name={kindIcon(option.value)} size={16} /> : null}
          {option.label}
        </Group>
      )}
      value={kind}
      onChange={(chosen) => {
        if (isFieldKind(chosen)) onChange(typeOfKind(chosen, draft.currency, usual))
      }}
    />
  )
}
