import { Group, Select, SimpleGrid, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { storageNamesQuery } from '../../api/storages.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import type { useDraft } from '../../controls/use-draft.ts'
import { type FieldDraft, fieldTypes } from './field-draft.ts'

type Draft = ReturnType<typeof useDraft<FieldDraft>>

const texts = {
  min: 'At least',
  max: 'At most',
  minLength: 'Shortest',
  maxLength: 'Longest',
} as const

const wire = { min: 'min', max: 'max', minLength: 'min_length', maxLength: 'max_length' } as const

export function FieldForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  const { data: storages = [] } = useQuery(storageNamesQuery)
  const limits = limitsOf(draft.type)
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
          data={fieldTypes}
          allowDeselect={false}
          value={draft.type}
          error={error('type')}
          onChange={(type) => set('type', type ?? 'string')}
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
      <Textarea
        label="Description"
        autosize
        value={draft.description}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
      <Switch
        label="Required"
        description="Required in new documents; it cannot be set empty."
        checked={draft.required}
        onChange={(event) => set('required', event.currentTarget.checked)}
      />
      {limits.length > 0 ? (
        <SimpleGrid cols={2}>
          {limits.map((name) => (
            <TextInput
              key={name}
              label={texts[name]}
              inputMode={draft.type === 'date' ? 'text' : 'numeric'}
              value={draft[name]}
              error={error(`validation_rules.${wire[name]}`)}
              onChange={(event) => set(name, event.currentTarget.value)}
            />
          ))}
        </SimpleGrid>
      ) : null}
      {draft.type === 'string' ? (
        <TextInput
          label="Pattern"
          description="A regular expression that must match a part of the text; use ^ and $ to match all of it."
          value={draft.pattern}
          error={error('validation_rules.pattern')}
          onChange={(event) => set('pattern', event.currentTarget.value)}
        />
      ) : null}
      {draft.type === 'string' || draft.type === 'number' ? (
        <TagsInput
          label="Choices"
          description="Allowed values. Type one and press Enter."
          value={[...draft.choices]}
          error={error('validation_rules.choices')}
          onChange={(choices) => set('choices', choices)}
        />
      ) : null}
      <TextInput
        label="Default"
        description="Default value (JSON) for new documents that leave it out."
        value={draft.defaultValue}
        error={error('default_value')}
        onChange={(event) => set('defaultValue', event.currentTarget.value)}
      />
    </>
  )
}

function limitsOf(type: string): readonly (keyof typeof texts)[] {
  if (type === 'number' || type === 'date') return ['min', 'max']
  return type === 'string' || type === 'array' ? ['minLength', 'maxLength'] : []
}
